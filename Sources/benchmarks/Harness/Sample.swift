/// What one contender cost in one round.
struct Sample: Sendable {
    /// Per call, waiter or schedule.
    var nanoseconds: Double

    /// Heap per waiter while all of them wait, where the platform tells.
    var bytes: Double?
}
