/// A caller that has to be answered: callback code, or a suspended task.
package enum Waiter: Sendable {
    /// Names one waiter of one service, for its cancellation; never used for another waiter.
    package typealias ID = Int

    /// A struct, since a list of bare closures would allocate memory once more for each.
    package struct Handler: Sendable {
        let call: @Sendable (LoadResult) -> Void
    }

    // Safe: a list gives each waiter out once, so no continuation is resumed twice or never.
    @safe
    package struct Suspension: Sendable {
        private let continuation: UnsafeContinuation<AccessToken, any Error>

        fileprivate init(_ continuation: UnsafeContinuation<AccessToken, any Error>) {
            unsafe self.continuation = continuation
        }

        func resume(with result: LoadResult) { unsafe continuation.resume(with: result) }
    }

    /// Is called where answers keep the order of the decisions.
    case handler(Handler)

    package static func handler(_ handler: @escaping @Sendable (LoadResult) -> Void) -> Waiter {
        .handler(Handler(call: handler))
    }

    /// Is resumed when the service's queue has been left: the task's executor may do anything.
    case task(Suspension)

    package static func task(_ continuation: UnsafeContinuation<AccessToken, any Error>) -> Waiter {
        unsafe .task(Suspension(continuation))
    }
}
