public import AccessTokenAsync
public import AccessTokenGCD

/// An async loader, as a callback service sees it.
///
/// **Concurrency** Each load is a task of its own, on the executor given; calls are taken up in the order in which they
/// were made.
///
/// **Cancellation** The task of a load is cancelled at the sign-out of an ``AccessTokenService`` that has this loader, and for
/// no other reason (X2).
public final class CallbackLoaderAdapter: AccessTokenLoader {
    /// A call that no task has taken yet.
    private struct Call: Sendable {
        let run: @Sendable () async -> Void
        /// Told of the task that takes the call, if that may have to be cancelled.
        let task: LateBound<CallTask>?
    }

    /// A task, which may begin before its maker knows it.
    private typealias CallTask = LateBound<Task<Void, Never>>

    private let base: any AsyncAccessTokenLoader
    private let executor: (any TaskExecutor)?
    /// The calls, in the order in which they were made.
    ///
    /// Tasks start in any order; whichever does takes the call that came first, so that a load that was given up is not
    /// begun after the next one, with the newer token.
    private let calls = Locked<[Call]>([])
    /// The loads that have not ended, each with the service that asked for it.
    private let loads = Locked<[(load: LoadID, task: LateBound<CallTask>)]>([])

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
        let task = LateBound<CallTask> { $0.cancel() }
        if let load = enclosing.last { loads.withLock { $0.append((load, task)) } }
        begin(as: task) { [self] in
            defer { loads.withLock { $0.removeAll { $0.task === task } } }
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

    private func begin(
        as task: LateBound<CallTask>? = nil,
        _ call: @escaping @Sendable () async -> Void
    ) {
        calls.withLock { $0.append(Call(run: call, task: task)) }
        let own = CallTask { $0.cancel() }
        own.bind(
            Task(executorPreference: executor) { [self] in
                let first = calls.withLock { $0.removeFirst() }
                first.task?.bind(own)
                await first.run()
            }
        )
    }
}

extension CallbackLoaderAdapter: CancellableLoader {
    package func cancelLoads(of service: ServiceID) {
        let tasks = loads.withLock { $0.compactMap { $0.load.service == service ? $0.task : nil } }
        for task in tasks { task.cancel() }
    }
}
