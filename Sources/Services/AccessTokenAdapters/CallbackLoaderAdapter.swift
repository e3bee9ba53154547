public import AccessTokenAsync
public import AccessTokenGCD
import AccessTokenSynchronization

/// An async loader, as a callback service sees it.
///
/// **Concurrency** Each load is a task of its own, on the executor given.
///
/// **Cancellation** The task of a load is cancelled at the sign-out of an ``AccessTokenService`` that has this loader,
/// also if the load is past its deadline, and for no other reason (X2). A service of your own that calls this loader
/// inside of a load of another service, or in a `Task {}` that such a load starts, has its load cancelled at the other
/// service's sign-out: call it in a `Task.detached`. A load that was given up before its task could begin is not begun.
public final class CallbackLoaderAdapter: AccessTokenLoader {
    private let base: any AsyncAccessTokenLoader
    private let startTask: TaskStarter

    /// Presents an async loader as a callback one; loads run in the global pool.
    public init(of base: any AsyncAccessTokenLoader) {
        self.base = base
        startTask = TaskStarter()
    }

    /// Presents an async loader as a callback one; loads run on an executor.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public init(of base: any AsyncAccessTokenLoader, executor: any TaskExecutor) {
        self.base = base
        startTask = TaskStarter(executor: executor)
    }

    /// Obtains a new token; see ``AccessTokenLoader/load(replacing:then:)``.
    public func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        let context = LoadContext.running
        let task = startTask { [base] in
            // Asked last: a load that was given up must not use the refresh token that the next load uses.
            guard context?.isWanted() ?? true else { return handler(.failure(cancellationError)) }
            let answer: LoadResult = await LoadContext.$current.withValue(context) {
                do { return .success(try await base.load(replacing: old)) } catch { return .failure(error) }
            }
            LoadContext.$current.withValue(context) { handler(answer) }
        }
        context?.cancelled.whenFired { task.cancel() }
    }

    /// Forgets the session that ended; see ``AccessTokenLoader/signOut(then:)``.
    ///
    /// A `load` that blocks the executor of the async loader must end before the load's deadline. Otherwise the loader
    /// forgets when the executor is free, which may be after the next sign-in, and then forgets that credential.
    public func signOut(then done: @escaping @Sendable () -> Void) {
        startTask { [base] in
            await base.signOut()
            done()
        }
    }
}
