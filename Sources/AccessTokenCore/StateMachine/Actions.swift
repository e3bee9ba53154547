/// What a shell has to do for a caller, or for all who wait when a session begins.
package struct Retrieval: Sendable {
    /// What the caller is answered with; `nil` puts it into the list of waiters, or leaves it there.
    package let answer: LoadResult?
    /// The load to be started, which the caller waits for or which is ahead of the token's expiration (C5).
    package let start: LoadStart?
    /// The priority to which the current load is to be raised.
    package let raise: UInt8?

    init(answer: LoadResult? = nil, start: LoadStart? = nil, raise: UInt8? = nil) {
        self.answer = answer
        self.start = start
        self.raise = raise
    }
}

/// What a load brings, and callers are answered with.
///
/// Where an input returns one, the shell takes all waiters out of its list and answers them with it, in the order in which
/// they came (D2).
package typealias LoadResult = Result<AccessToken, any Error>

/// A load to be started: set the timer of its deadline, and ask the loader if the load is still the current one then.
package struct LoadStart: Sendable {
    package let flight: FlightID
    package let replacing: AccessToken?
    package let priority: UInt8
    /// The loads inside which it runs, itself the last.
    package let enclosing: [LoadID]
}

/// The answer to all who are cancelled: an error costs an allocation each time that it is made.
package let cancellation: any Error = CancellationError()
