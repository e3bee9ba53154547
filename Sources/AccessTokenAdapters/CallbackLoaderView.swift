public import AccessTokenAsync
public import AccessTokenGCD

/// An async loader, as a callback service sees it.
///
/// **Concurrency** Each load is a task of its own, on the executor given.
///
/// **Cancellation** None: a load is never cancelled (X2).
public final class CallbackLoaderView: AccessTokenLoader {
    private let base: any AsyncAccessTokenLoader
    private let executor: (any TaskExecutor)?

    /// Creates the callback view of an async loader.
    ///
    /// - Parameters:
    ///   - base: the loader.
    ///   - executor: where loads run; `nil` is the global pool.
    public init(of base: any AsyncAccessTokenLoader, executor: (any TaskExecutor)? = nil) {
        self.base = base
        self.executor = executor
    }

    /// Obtains a new token; see ``AccessTokenLoader/load(replacing:then:)``.
    public func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        let loads = LoadContext.loads + LoaderCall.loads
        Task(executorPreference: executor) { [base] in
            do {
                let token = try await LoadContext.$loads.withValue(loads) {
                    try await base.load(replacing: old)
                }
                handler(.success(token))
            } catch {
                handler(.failure(error))
            }
        }
    }

    /// Forgets the session that ended; see ``AccessTokenLoader/signOut(then:)``.
    public func signOut(then done: @escaping @Sendable () -> Void) {
        Task(executorPreference: executor) { [base] in
            await base.signOut()
            done()
        }
    }
}
