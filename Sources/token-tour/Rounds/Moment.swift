/// A step, and when it happened, counted from the beginning of the round.
struct Moment: Hashable, Sendable {
    let step: Step
    let time: Duration
}
