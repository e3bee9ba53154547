import AccessTokenAdapters

/// What a load will bring, for one task that waits for it; the first answer counts, or the task's cancellation.
final class AsyncAnswer: Sendable {
    private enum State {
        case empty
        case awaited(CheckedContinuation<AccessToken, any Error>)
        case answered(Result<AccessToken, any Error>)
    }

    private let state = Locked(State.empty)

    func set(_ result: Result<AccessToken, any Error>) {
        let waiting = state.withLock { state -> CheckedContinuation<AccessToken, any Error>? in
            switch state {
            case .empty:
                state = .answered(result)
                return nil
            case .awaited(let continuation):
                state = .answered(result)
                return continuation
            case .answered:
                return nil
            }
        }
        waiting?.resume(with: result)
    }

    func value() async throws -> AccessToken {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let present = state.withLock { state -> Result<AccessToken, any Error>? in
                    if case .answered(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let present { continuation.resume(with: present) }
            }
        } onCancel: {
            set(.failure(CancellationError()))
        }
    }
}
