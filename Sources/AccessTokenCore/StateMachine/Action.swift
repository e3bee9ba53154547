/// What a shell has to do about an input: answer waiters, then carry out effects in the order of the decisions.
@usableFromInline
package struct Action<Waiter> {
    /// The only way out of the state machine for a waiter, so that each is answered exactly once (clause D1).
    @usableFromInline
    package struct Answer {
        @usableFromInline
        package let waiters: WaiterSlots<Waiter>
        @usableFromInline
        package let result: Result<AccessToken, any Error>

        @inlinable
        init(waiters: WaiterSlots<Waiter>, result: Result<AccessToken, any Error>) {
            self.waiters = waiters
            self.result = result
        }
    }

    @usableFromInline
    package var answer: Answer?
    @usableFromInline
    package var effects: [Effect] = []

    /// Cancels the waiter that the input brought, if it has to wait.
    @usableFromInline
    package var ticket: Int?

    /// Whether callers may have to be given another token than before; a joiner changes nothing for them.
    @usableFromInline
    package var changesToken = true

    @inlinable
    init() {}

    @inlinable
    mutating func answer(_ waiter: Waiter, _ result: Result<AccessToken, any Error>) {
        var one = WaiterSlots<Waiter>()
        _ = one.append(waiter)
        answer = Answer(waiters: one, result: result)
    }
}

extension Action: Sendable where Waiter: Sendable {}
extension Action.Answer: Sendable where Waiter: Sendable {}

/// Something that a shell does to the world on behalf of the state machine.
@usableFromInline
package enum Effect: Sendable {
    /// Set the timer of the deadline if there is one, and ask the loader, unless the load has lost the slot by then.
    case startLoad(FlightID, replacing: AccessToken?, for: CallerContext)
    /// Let the load run with a higher priority: a caller waits for it that has one.
    case raisePriority(FlightID, to: UInt8)
    /// Cancel the timer of the deadline, and let go of what belonged to the load that owned the slot.
    case endFlight
    /// Tell the event handler.
    case report(AccessTokenEvent)
}
