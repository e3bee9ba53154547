/// The answer to waiters: the only way out of the state machine for them, so that each is answered once (clause D1).
@frozen @usableFromInline
package struct Answer<Waiter> {
    @usableFromInline
    package let waiters: WaiterList<Waiter>
    @usableFromInline
    package let result: Result<AccessToken, any Error>

    @inlinable
    init(waiters: WaiterList<Waiter>, result: Result<AccessToken, any Error>) {
        self.waiters = waiters
        self.result = result
    }
}

/// What a shell has to do for one caller.
@usableFromInline
package enum Retrieval<Waiter> {
    /// Answer the caller.
    case answer(Waiter, Result<AccessToken, any Error>)
    /// Answer the caller, and start a load ahead of the token's expiration (C5).
    indirect case answerAndLoad(Waiter, AccessToken, LoadStart)
    /// The caller has joined the current load.
    case wait(WaiterID)
    /// The caller has joined the current load, whose priority is to be raised.
    case waitAndRaise(WaiterID, LoadPriority)
    /// The caller waits for a load that is to be started.
    indirect case waitAndLoad(WaiterID, LoadStart)
}

/// What a shell has to do when a load is over, or a session: cancel the deadline's timer, and answer.
@usableFromInline
package struct FlightEnd<Waiter> {
    package let flight: FlightID
    package let answer: Answer<Waiter>
}

/// What a shell has to do when a session begins without a token: the flight of the former one ends, and those who waited
/// for it wait for a load of the new session.
package struct Succession {
    package let ended: FlightID?
    package let start: LoadStart?
}

/// A load to be started: set the timer of its deadline, and ask the loader if the load is still the current one then.
@usableFromInline
package struct LoadStart: Sendable {
    package let flight: FlightID
    package let replacing: AccessToken?
    package let priority: UInt8
    /// The loads inside which it runs, itself the last.
    package let enclosing: [LoadID]
}

/// The priority that a load is to run with at least: a caller waits for it that has this one.
@usableFromInline
package struct LoadPriority: Sendable {
    package let flight: FlightID
    package let value: UInt8

    @usableFromInline
    init(flight: FlightID, value: UInt8) {
        self.flight = flight
        self.value = value
    }
}

extension Answer: Sendable where Waiter: Sendable {}
extension Retrieval: Sendable where Waiter: Sendable {}
extension FlightEnd: Sendable where Waiter: Sendable {}

/// The answer to all who are cancelled: an error costs an allocation each time that it is made.
@usableFromInline
package let cancellation: any Error = CancellationError()
