/// A sleep that ends once: by its timer or by cancellation, whichever comes first.
final class Sleeper: Sendable {
    private enum State: Sendable {
        case idle
        case asleep(CheckedContinuation<Void, any Error>)
        case ended(Result<Void, any Error>)
    }

    private let state = Protected(State.idle)

    nonisolated(nonsending) func sleep() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<Void, any Error>? in
                if case .ended(let result) = state {
                    return result
                }
                state = .asleep(continuation)
                return nil
            }
            if let result {
                continuation.resume(with: result)
            }
        }
    }

    func wake() {
        end(.success(()))
    }

    func cancel() {
        end(.failure(CancellationError()))
    }

    private func end(_ result: Result<Void, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            switch state {
            case .idle:
                state = .ended(result)
                return nil
            case .asleep(let continuation):
                state = .ended(result)
                return continuation
            case .ended:
                return nil
            }
        }
        continuation?.resume(with: result)
    }
}
