public import AccessTokenAsync
public import AccessTokenGCD
import AccessTokenSynchronization
import Dispatch

/// A callback loader, as an async service sees it.
///
/// **Cancellation** None: a load is never cancelled (X2).
///
/// **Failure** Only the loader's first answer counts, and another is reported (D7);
/// ``AccessTokenError/loadAbandoned`` if the loader drops the handler without calling it.
public final class AsyncLoaderAdapter: AsyncAccessTokenLoader {
    private let base: any AccessTokenLoader
    private let onEvent: (@Sendable (AccessTokenEvent) -> Void)?
    private let loads = Locked(0)
    /// Calls the loader one call at a time, in the order of the calls, as `AccessTokenService` does.
    private let loaderQueue: any SerialQueue

    /// Presents a callback loader as an async one.
    ///
    /// `onEvent` is told on the loader's thread of answers after the first one. Loads are numbered as they reach the
    /// adapter.
    public convenience init(of base: any AccessTokenLoader, onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil) {
        // A queue without a target would have a thread of its own for each adapter whose loader is called.
        let queue = DispatchQueue(label: "AsyncLoaderAdapter.loader", target: .global(qos: .userInitiated))
        self.init(of: base, loaderOn: queue, onEvent: onEvent)
    }

    /// Takes the private queue as well: its holder decides when the loader is called.
    package init(
        of base: any AccessTokenLoader,
        loaderOn loaderQueue: any SerialQueue,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)?
    ) {
        self.base = base
        self.loaderQueue = loaderQueue
        self.onEvent = onEvent
    }

    /// Obtains a new token; see ``AsyncAccessTokenLoader/load(replacing:)``.
    public func load(replacing old: AccessToken?) async throws -> AccessToken {
        let load = loads.withLock { loads in
            loads += 1
            return loads
        }
        let context = LoadContext.running
        return try await withCheckedThrowingContinuation { continuation in
            let answer = OneShot<LoadResult>(abandoned: .failure(AccessTokenError.loadAbandoned)) { result in
                continuation.resume(with: result)
            }
            loaderQueue.enqueue { [base, onEvent] in
                // Asked last: a load that was given up must not use the refresh token that the next load uses.
                guard context?.isWanted() ?? true else { return _ = answer(.failure(cancellationError)) }
                LoadContext.$current.withValue(context) {
                    base.load(replacing: old) { result in
                        if !answer(result) { onEvent?(.init(.ignoredRepeatedAnswer, load: load)) }
                    }
                }
            }
        }
    }

    /// Forgets the session that ended; see ``AsyncAccessTokenLoader/signOut()``.
    ///
    /// A `load` of the callback loader that blocks its queue must end before the load's deadline. Otherwise the loader
    /// forgets when the queue is free, which may be after the next sign-in, and then forgets that credential.
    public func signOut() async {
        await withCheckedContinuation { continuation in
            let finish = OneShot(abandoned: ()) { continuation.resume() }
            loaderQueue.enqueue { [base] in base.signOut { finish(()) } }
        }
    }
}
