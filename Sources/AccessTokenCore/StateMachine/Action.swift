/// What a shell has to do about an input: answer waiters, then carry out effects in the order of the decisions.
@usableFromInline
package struct Action<Waiter> {
    /// The only way out of the state machine for a waiter, so that each is answered exactly once (clause D1).
    @usableFromInline
    package struct Answer {
        @usableFromInline
        package let waiters: Waiters
        @usableFromInline
        package let result: Result<AccessToken, any Error>

        @inlinable
        init(waiters: Waiters, result: Result<AccessToken, any Error>) {
            self.waiters = waiters
            self.result = result
        }
    }

    /// A caller that is answered alone needs no array.
    @usableFromInline
    package enum Waiters {
        case one(Waiter)
        case all(WaiterSlots<Waiter>)

        @inlinable
        package func forEach(_ body: (Waiter) -> Void) {
            switch self {
            case .one(let waiter): body(waiter)
            case .all(let slots): slots.forEach(body)
            }
        }
    }

    @usableFromInline
    package var answer: Answer?
    @usableFromInline
    package var effects: [Effect] = []

    /// Cancels the waiter that the input brought, if it has to wait.
    @usableFromInline
    package var ticket: Int?

    /// Whether callers may have to be given another token than before; who joins or leaves changes nothing for them.
    @usableFromInline
    package var changesToken = true

    @inlinable
    package init() {}

    @inlinable
    package mutating func answer(_ waiter: Waiter, _ result: Result<AccessToken, any Error>) {
        answer = Answer(waiters: .one(waiter), result: result)
    }
}

extension Action: Sendable where Waiter: Sendable {}
extension Action.Answer: Sendable where Waiter: Sendable {}
extension Action.Waiters: Sendable where Waiter: Sendable {}

/// The answer to all who are cancelled: an error costs an allocation each time that it is made.
@usableFromInline
package let cancellation: any Error = CancellationError()

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
