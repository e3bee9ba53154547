import AccessTokenCore
import AccessTokenGCD

/// Waits for a call with a handler, as `token()` promises: a cancelled caller is answered at once, whether or not the
/// call can be cancelled; a handler that is called twice does no harm, and one that is dropped becomes an error.
nonisolated(nonsending) func tokenByCallback(
    _ retrieve: (@escaping AccessTokenHandler) -> AccessTokenRetrieval
) async throws -> AccessToken {
    let wait = Locked(CallbackWait())
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            let answer = OneShot<Result<AccessToken, any Error>>(
                abandoned: .failure(AccessTokenError.loadAbandoned)
            ) { result in
                continuation.resume(with: result)
            }
            wait.withLock { $0.answer = answer }
            let retrieval = retrieve { result in answer(result) }
            // Cancelled before the retrieval was there to be cancelled?
            let isCancelled = wait.withLock { wait in
                wait.retrieval = retrieval
                return wait.isCancelled
            }
            guard isCancelled else { return }
            retrieval.cancel()
            answer(.failure(CancellationError()))
        }
    } onCancel: {
        let (answer, retrieval) = wait.withLock { wait in
            wait.isCancelled = true
            return (wait.answer, wait.retrieval)
        }
        guard let retrieval else { return }
        retrieval.cancel()
        answer?(.failure(CancellationError()))
    }
}

private struct CallbackWait: Sendable {
    var isCancelled = false
    var retrieval: AccessTokenRetrieval?
    /// Weak, so that only the handler holds it: when the handler is dropped, so is it.
    weak var answer: OneShot<Result<AccessToken, any Error>>?
}
