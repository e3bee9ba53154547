public import AccessTokenAsync
public import AccessTokenGCD

/// An async loader, as a callback service sees it.
///
/// **Concurrency** Each load is a task of its own, on the executor given.
///
/// **Cancellation** The task of a load is cancelled at the sign-out of an ``AccessTokenService`` that has this loader, and for
/// no other reason (X2). A load that was given up before its task could begin is not begun.
public final class CallbackLoaderAdapter: AccessTokenLoader {
    private let base: any AsyncAccessTokenLoader
    private let startTask: TaskStarter
    /// The loads that have begun and not ended.
    private let loads = Locked<[LoadID: Load]>([:])

    private struct Load: Sendable {
        /// `nil` for a moment: the task may begin, and end, before it is known here.
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    /// Presents an async loader as a callback one; loads run in the global pool.
    public convenience init(of base: any AsyncAccessTokenLoader) {
        self.init(of: base, startTask: TaskStarter())
    }

    /// Presents an async loader as a callback one; loads run on an executor.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public convenience init(of base: any AsyncAccessTokenLoader, executor: any TaskExecutor) {
        self.init(of: base, startTask: TaskStarter(executor: executor))
    }

    private init(of base: any AsyncAccessTokenLoader, startTask: TaskStarter) {
        self.base = base
        self.startTask = startTask
    }

    /// Obtains a new token; see ``AccessTokenLoader/load(replacing:then:)``.
    public func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        guard let context = LoadContext.current, let load = context.loads.last else {
            startTask { [self] in handler(await ask(replacing: old)) }
            return
        }
        loads.withLock { $0[load] = Load() }
        let task = startTask(priority: TaskPriority(rawValue: context.priority)) { [self] in
            // Asked last: a load that was given up must not use the refresh token that the next load uses.
            let isWanted = context.isWanted() && !Task.isCancelled
            let answer: LoadResult =
                isWanted
                ? await LoadContext.$current.withValue(context) { await ask(replacing: old) }
                : .failure(cancellation)
            loads.withLock { $0[load] = nil }
            handler(answer)
        }
        let isCancelled = loads.withLock { loads in
            loads[load]?.task = task
            return loads[load]?.isCancelled ?? false
        }
        if isCancelled { task.cancel() }
    }

    /// Forgets the session that ended; see ``AccessTokenLoader/signOut(then:)``.
    public func signOut(then done: @escaping @Sendable () -> Void) {
        startTask { [base] in
            await base.signOut()
            done()
        }
    }

    private func ask(replacing old: AccessToken?) async -> LoadResult {
        do { return .success(try await base.load(replacing: old)) } catch { return .failure(error) }
    }
}

extension CallbackLoaderAdapter: CancellableLoader {
    package func cancelLoads(of service: ServiceID, before epoch: Int) {
        let tasks = loads.withLock { loads in
            for load in loads.keys where load.service == service && load.sessionEpoch < epoch {
                loads[load]?.isCancelled = true
            }
            return loads.values.filter(\.isCancelled).compactMap(\.task)
        }
        for task in tasks { task.cancel() }
    }
}
