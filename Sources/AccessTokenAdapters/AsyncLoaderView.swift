public import AccessTokenAsync
public import AccessTokenGCD
import Dispatch

/// A callback loader, as an async service sees it.
///
/// **Cancellation** None: a load is never cancelled (X2).
///
/// **Failure** Only the loader's first answer counts, and another is reported (D7);
/// ``AccessTokenError/loadAbandoned`` if the loader drops the handler without calling it.
public final class AsyncLoaderView: AsyncAccessTokenLoader {
    private let base: any AccessTokenLoader
    private let onEvent: (@Sendable (AccessTokenEvent) -> Void)?
    private let loads = Locked(0)
    /// Calls the loader one call at a time, in the order of the calls, as `AccessTokenService` does.
    private let loading: any SerialQueue

    /// Creates the async view of a callback loader.
    ///
    /// - Parameters:
    ///   - base: the loader.
    ///   - onEvent: told of answers after the first one, which the service never sees; loads are numbered in the
    ///     order in which they reach the view.
    public convenience init(of base: any AccessTokenLoader, onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil) {
        self.init(of: base, loading: DispatchQueue(label: "AsyncLoaderView.loading"), onEvent: onEvent)
    }

    /// Takes the private queue as well: whoever holds it decides when the loader is called.
    package init(
        of base: any AccessTokenLoader,
        loading: any SerialQueue,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)?
    ) {
        self.base = base
        self.loading = loading
        self.onEvent = onEvent
    }

    /// Obtains a new token; see ``AsyncAccessTokenLoader/load(replacing:)``.
    public func load(replacing old: AccessToken?) async throws -> AccessToken {
        let load = loads.withLock { loads in
            loads += 1
            return loads
        }
        return try await withCheckedThrowingContinuation { continuation in
            let answer = OneShot<Result<AccessToken, any Error>>(
                abandoned: .failure(AccessTokenError.loadAbandoned)
            ) { result in
                continuation.resume(with: result)
            }
            let loads = LoadContext.loads
            loading.enqueue { [base, onEvent, loading] in
                LoaderCall.inside(loads, on: loading.dispatchQueue) {
                    base.load(replacing: old) { result in
                        if !answer(result) { onEvent?(.ignored(.repeatedAnswer(load: load))) }
                    }
                }
            }
        }
    }

    /// Forgets the session that ended; see ``AsyncAccessTokenLoader/signOut()``.
    public func signOut() async {
        await withCheckedContinuation { continuation in
            let finish = OneShot(abandoned: ()) { continuation.resume() }
            loading.enqueue { [base] in base.signOut { finish(()) } }
        }
    }
}
