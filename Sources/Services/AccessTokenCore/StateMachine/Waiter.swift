/// A caller that has to be answered: callback code, or a suspended task.
package enum Waiter: Sendable {
    /// Names one waiter of one service, for its cancellation; never used for another waiter.
    package typealias ID = Int

    package typealias Handler = @Sendable (LoadResult) -> Void

    // Safe: the state machine gives each waiter out once, so no continuation is resumed twice or never.
    @safe
    package struct Suspension: Sendable {
        private let continuation: UnsafeContinuation<AccessToken, any Error>

        package init(_ continuation: UnsafeContinuation<AccessToken, any Error>) {
            unsafe self.continuation = continuation
        }

        func resume(with result: LoadResult) { unsafe continuation.resume(with: result) }
    }

    /// Is called where answers keep the order of the decisions.
    case handler(Handler)
    /// Is resumed outside of decisions, since the task's executor may do anything.
    case task(Suspension)
}
