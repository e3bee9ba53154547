import AccessTokenCore
import AccessTokenGCD

/// Waits for a call with a handler, as `token()` promises: a cancelled caller is answered at once, whether or not the
/// call can be cancelled; a handler that is called twice does no harm, and one that is dropped becomes an error.
nonisolated(nonsending) func tokenByCallback(
    _ retrieve: (@escaping AccessTokenHandler) -> AccessTokenRetrieval
) async throws -> AccessToken {
    let pending = LateBound<@Sendable () -> Void> { answerAsCancelled in answerAsCancelled() }
    let retrieval = LateBound<AccessTokenRetrieval> { $0.cancel() }
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            let answer = OneShot<Result<AccessToken, any Error>>(
                abandoned: .failure(AccessTokenError.loadAbandoned)
            ) { result in
                continuation.resume(with: result)
            }
            // Weak: only the handler holds the answer, and dropping the handler drops the answer.
            pending.bind { [weak answer] in answer?(.failure(CancellationError())) }
            retrieval.bind(retrieve { result in answer(result) })
        }
    } onCancel: {
        // In this order, or an error of the service's own for a cancelled call would come first.
        pending.cancel()
        retrieval.cancel()
    }
}
