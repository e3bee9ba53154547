import AccessTokenSynchronization

/// A task that waits for its answer, or is about to.
///
/// The task is a waiter before it suspends, so that a cancellation finds it among the waiters. The answer may come
/// before it suspends as well.
package final class Suspension: Sendable {
    // Safe: a continuation leaves the state when it is resumed, and no second one enters.
    @safe
    private enum State: Sendable {
        case runs
        case waits(UnsafeContinuation<AccessToken, any Error>)
        case answered(LoadResult)
    }

    private let state = Locked(State.runs)

    package init() {}

    /// Suspends the task until it is answered, on its own executor.
    ///
    /// To be called once.
    package nonisolated(nonsending) func answer() async throws -> AccessToken {
        try await unsafe withUnsafeThrowingContinuation { continuation in
            let result = state.withLock { state -> LoadResult? in
                if case .answered(let result) = state { return result }
                unsafe state = .waits(continuation)
                return nil
            }
            if let result { unsafe continuation.resume(with: result) }
        }
    }

    /// Answers the task; called once, by whoever takes it out of the waiters.
    func resume(with result: LoadResult) {
        let former = state.withLock { exchange(&$0, with: .answered(result)) }
        if case .waits(let continuation) = former { unsafe continuation.resume(with: result) }
    }
}
