public import AccessTokenAsync
public import AccessTokenGCD
import AccessTokenSynchronization

/// A callback service, as async code sees it.
///
/// `AccessTokenService` needs no adapter: it is an `AsyncAccessTokenProviding` itself where `AccessTokenAdapters` is
/// imported. The adapter is for services of the app's own behind `AccessTokenProviding`, and for async code whose calls
/// must not overtake those of a ``CallbackServiceAdapter``.
///
/// ```swift
/// let provider: any AsyncAccessTokenProviding = AsyncServiceAdapter(of: legacyService)
/// let token = try await provider.token()
/// ```
///
/// **Cancellation** A cancelled caller is answered at once with `CancellationError`, also by a service that cannot
/// cancel, and its retrieval is cancelled (X1 and X2). A caller that is cancelled already does not reach a service of
/// your own. `AccessTokenService` gives such a caller a token that is there, and starts no load for it (X3).
///
/// **Failure** The service's errors, unchanged; ``AccessTokenError/loadAbandoned`` if the service drops the handler
/// without calling it. Another call of the handler is ignored.
public struct AsyncServiceAdapter: AsyncAccessTokenProviding {
    let base: any AccessTokenProviding
    /// The base, if its calls that are under way come first.
    private let adapter: CallbackServiceAdapter?
    /// The base, if it is one of ours and has `token()` itself.
    ///
    /// A service of your own may have its `token()` from this adapter, and would call itself.
    private let service: (any AsyncAccessTokenProviding)?

    /// Presents a callback service as an async one.
    public init(of base: any AccessTokenProviding) {
        self.base = base
        adapter = base as? CallbackServiceAdapter
        service = adapter?.base ?? base as? AccessTokenService
    }

    /// A valid token; see ``AsyncAccessTokenProviding/token()``.
    public nonisolated(nonsending) func token() async throws -> AccessToken {
        try await adapter?.callsHaveReachedTheServiceOrCancellation()
        if let service { return try await service.token() }
        try Task.checkCancellation()
        return try await tokenByCallback { handler in base.retrieveToken(then: handler) }
    }

    /// Says that a server rejected this token; see ``AsyncAccessTokenProviding/invalidate(_:)``.
    public func invalidate(_ rejected: AccessToken) async {
        await adapter?.service.callsHaveReachedIt(isCancellable: false)
        if let service { return await service.invalidate(rejected) }
        base.invalidate(rejected)
    }

    /// Ends the session; see ``AsyncAccessTokenProviding/signOut()``.
    public func signOut() async {
        await adapter?.service.callsHaveReachedIt(isCancellable: false)
        if let service { return await service.signOut() }
        await withCheckedContinuation { continuation in
            let finish = OneShot(abandoned: ()) { continuation.resume() }
            base.signOut { finish(()) }
        }
    }
}

extension AccessTokenProviding {
    /// A valid token, as ``AccessTokenProviding/retrieveToken(then:)`` provides it; see ``AsyncServiceAdapter``.
    ///
    /// It is what the compiler points to where async code still passes a handler.
    public nonisolated(nonsending) func token() async throws -> AccessToken {
        try await AsyncServiceAdapter(of: self).token()
    }
}

/// Waits for a call with a handler, as `token()` promises: a cancelled caller is answered at once, whether or not the
/// call can be cancelled; a handler that is called twice does no harm, and one that is dropped becomes an error.
private nonisolated(nonsending) func tokenByCallback(
    _ retrieve: (@escaping AccessTokenHandler) -> AccessTokenRetrieval
) async throws -> AccessToken {
    let cancelled = Latch()
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            let answer = OneShot<LoadResult>(abandoned: .failure(AccessTokenError.loadAbandoned)) { result in
                continuation.resume(with: result)
            }
            let retrieval = retrieve { answer($0) }
            cancelled.whenFired { [weak answer] in
                // In this order, or an error of the service's own for a cancelled call would come first.
                answer?(.failure(cancellationError))
                retrieval.cancel()
            }
        }
    } onCancel: {
        cancelled.fire()
    }
}
