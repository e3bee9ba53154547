import AccessTokenCore
import AccessTokenGCD

/// Waits for a call with a handler, as `token()` promises: a cancelled caller is answered at once, whether or not the
/// call can be cancelled; a handler that is called twice does no harm, and one that is dropped becomes an error.
nonisolated(nonsending) func tokenByCallback(
    _ retrieve: (@escaping AccessTokenHandler) -> AccessTokenRetrieval
) async throws -> AccessToken {
    let call = Cancellation()
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            let answer = OneShot<LoadResult>(abandoned: .failure(AccessTokenError.loadAbandoned)) { result in
                continuation.resume(with: result)
            }
            let retrieval = retrieve { answer($0) }
            call.onCancel { [weak answer] in
                // In this order, or an error of the service's own for a cancelled call would come first.
                answer?(.failure(cancellation))
                retrieval.cancel()
            }
        }
    } onCancel: {
        call.cancel()
    }
}
