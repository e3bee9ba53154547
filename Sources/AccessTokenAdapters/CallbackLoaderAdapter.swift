public import AccessTokenAsync
public import AccessTokenGCD

/// An async loader, as a callback service sees it.
///
/// **Concurrency** Each load is a task of its own, on the executor given; calls are taken up in the order in which they
/// were made.
///
/// **Cancellation** None: a load is never cancelled (X2).
public final class CallbackLoaderAdapter: AccessTokenLoader {
    private let base: any AsyncAccessTokenLoader
    private let executor: (any TaskExecutor)?
    /// The calls that no task has taken yet.
    ///
    /// Tasks start in any order; whichever does takes the call that came first, so that a load that was given up is not
    /// begun after the next one, with the newer token.
    private let calls = Locked<[@Sendable () async -> Void]>([])

    /// Presents an async loader as a callback one.
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
        let enclosing = EnclosingLoads.current
        begin { [base] in
            do {
                let token = try await EnclosingLoads.with(enclosing) {
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
        begin { [base] in
            await base.signOut()
            done()
        }
    }

    private func begin(_ call: @escaping @Sendable () async -> Void) {
        calls.withLock { $0.append(call) }
        Task(executorPreference: executor) { [self] in
            let first = calls.withLock { $0.removeFirst() }
            await first()
        }
    }
}
