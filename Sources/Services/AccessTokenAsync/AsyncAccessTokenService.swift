public import AccessTokenCore

/// One valid token for many callers, by `async` functions: an actor, and an array of waiters.
///
/// Concurrent callers share one load of a new token (clauses S1 and S2).
///
/// ```swift
/// let service = AsyncAccessTokenService(loader: loader)
/// let token = try await service.token()
/// ```
///
/// **Concurrency** With a valid token, ``token()`` stays on the caller's executor and does not suspend at all. Without one, or
/// with an event handler, it enters the actor. Waiters are resumed in the order in which they came (D2); callback code that
/// waits beside them, by an adapter, is answered first. Loads run in tasks of the service's own, without any caller's
/// task-local values, at the highest priority of their waiters if the platform can raise it (macOS 26, iOS 26, Linux).
///
/// **Failure** Dropping the last reference loses no answer: a running load keeps the service until it has ended (D6).
///
/// | what | is guarded by, and runs on |
/// | --- | --- |
/// | every decision; `waiters` | the actor: a thread of the pool, or the caller's preferred executor, which can block the actor |
/// | the loader | a task for each load, on the executor given |
/// | waiting tasks | their own executors |
/// | the event handler | a thread that all services share |
/// | the deadline | a thread that all timers share, and then the actor |
public actor AsyncAccessTokenService: AsyncAccessTokenProviding {
    private var machine: AccessTokenStateMachine
    private var waiters = WaiterList<Waiter>()
    private var runningLoads = RunningLoads()
    /// The last forgetting of a session, for which sign-outs wait.
    private var lastForgetting = PendingWork()
    private var loadTask: Task<Void, Never>?

    /// The valid token, for callers that need not wait.
    @usableFromInline nonisolated let snapshot: TokenSnapshot
    @usableFromInline nonisolated let clock: ServiceClock

    private let loader: any AsyncAccessTokenLoader
    private let policy: AccessTokenPolicy
    private let events: EventDelivery?
    /// Starts the tasks of the service: on the executor given, or in the global pool.
    package nonisolated let startTask: TaskStarter
    /// The sign-outs whose session the loader has not forgotten yet.
    package nonisolated let signOuts = PendingWork()

    /// Creates a service that is signed in and has no token: the first call loads, unless `signIn(_:)` comes first.
    ///
    /// - Parameters:
    ///   - loader: obtains new tokens.
    ///   - policy: when a token counts as expired, and how long a load may take.
    ///   - clock: wall clock and timers.
    ///   - onEvent: told what happens, in order, on a thread that all services share.
    public init(
        loader: any AsyncAccessTokenLoader,
        policy: AccessTokenPolicy = AccessTokenPolicy(),
        clock: any AccessTokenClock = SystemClock(),
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) {
        self.init(loader: loader, policy: policy, clock: clock, startTask: TaskStarter(), onEvent: onEvent)
    }

    /// Creates a service whose loads, cancellations and deadlines run on an executor; a caller enters the actor on its own.
    ///
    /// The executor must not run a job before `enqueue` has returned: a deadline would hold up the timers of all services.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public init(
        loader: any AsyncAccessTokenLoader,
        policy: AccessTokenPolicy = AccessTokenPolicy(),
        clock: any AccessTokenClock = SystemClock(),
        executor: any TaskExecutor,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) {
        self.init(
            loader: loader,
            policy: policy,
            clock: clock,
            startTask: TaskStarter(executor: executor),
            onEvent: onEvent
        )
    }

    /// Takes its event queue, for tests that decide when events are delivered.
    package init(
        loader: any AsyncAccessTokenLoader,
        policy: AccessTokenPolicy,
        clock: any AccessTokenClock,
        startTask: TaskStarter,
        eventsOn eventQueue: @escaping EventQueue = EventThread.queue,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)?
    ) {
        self.loader = loader
        self.startTask = startTask
        self.clock = ServiceClock(clock)
        self.policy = policy.corrected
        machine = AccessTokenStateMachine(service: ServiceID(), policy: policy, reportsEvents: onEvent != nil)
        snapshot = TokenSnapshot(reportsHits: onEvent != nil)
        events = onEvent.map { EventDelivery(on: eventQueue, to: $0) }
        // A corrected policy is an event already.
        events?.deliver(machine.takeEvents())
    }

    // MARK: Callers

    /// The token, if one counts as valid (see ``AccessTokenPolicy/minimumLoadInterval``): never loads, never waits.
    @inlinable public nonisolated final var currentToken: AccessToken? { snapshot.usableToken(at: clock.now) }

    /// A valid token; loads if it has to (clauses C1 to C5).
    ///
    /// **Cancellation** Throws `CancellationError` at once (X1) and leaves the load alone (X2); a caller that is
    /// cancelled already starts no load (X3), but gets a token that is there.
    ///
    /// **Failure** A load's error, unchanged (F1); ``AccessTokenError``.
    @inlinable
    public nonisolated(nonsending) final func token() async throws -> AccessToken {
        // Runs on the caller's executor, but only since the function is final.
        if let token = freshToken { return token }
        return try await waitForToken()
    }

    /// Says that a server rejected this token (clauses I1 to I3).
    public func invalidate(_ rejected: AccessToken) {
        machine.invalidate(rejected)
        answerAll(nil)
    }

    /// Begins a session with this token, in place of the present session if there is one (clause O2).
    ///
    /// Callers that wait for a load of the present session are answered with the token, or wait on if it has expired.
    public func signIn(_ token: AccessToken) {
        beginSession(with: token)
    }

    /// Begins a session whose first token the loader has to load: it has the session's credential already.
    ///
    /// Callers that wait for a load of the present session wait on, for a load of the new one (clause O2).
    public func signIn() {
        beginSession(with: nil)
    }

    /// Ends the session, and returns when the loader has forgotten it, also to a cancelled caller.
    ///
    /// Callers get ``AccessTokenError/signedOut`` at once (clauses O1 and O3). A load that is running is cancelled, and waited
    /// for, at most until its deadline. Then the loader forgets the session, for which it has as long as for a load. Store the
    /// next session's credential, where the loader finds it, only after this has returned: no load of the ended session can
    /// begin then.
    ///
    /// From inside a load, before its deadline, it returns without waiting for that load, which would wait for itself. The
    /// loader forgets the session after that load: store the next session's credential later than that.
    public func signOut() async {
        await withCheckedContinuation { continuation in
            endSession(inside: LoadContext.currentLoads) { continuation.resume() }
        }
    }

    // MARK: Waiters

    /// The token, if a valid one is there and its successor need not be loaded yet.
    @inlinable package nonisolated final var freshToken: AccessToken? { snapshot.freshToken(at: clock.now) }

    /// Answers a task, or makes it a waiter.
    @usableFromInline
    func waitForToken() async throws -> AccessToken {
        let caller = CallerContext(isCancelled: Task.isCancelled)
        if let answer = retrieve(by: caller) { return try answer.get() }
        // The actor is not left until the waiter is in the list: a cancellation finds it there.
        let waiter = waiters.nextID
        return try await withTaskCancellationHandler {
            try await unsafe withUnsafeThrowingContinuation { _ = unsafe waiters.append(.task($0)) }
        } onCancel: {
            startTask { [self] in await cancel(waiter) }
        }
    }

    /// Answers a handler, or makes it a waiter; returns what cancels it.
    ///
    /// - Parameter handler: only enqueues; called on the actor, where answers keep the order of the calls.
    package func retrieveToken(
        by caller: CallerContext,
        then handler: @escaping @Sendable (LoadResult) -> Void
    ) -> WaiterID? {
        guard let answer = retrieve(by: caller) else { return waiters.append(.handler(handler)) }
        handler(answer)
        return nil
    }

    /// Decides about a caller, and loads if it is the first: the answer, or `nil` if the caller has to be a waiter.
    private func retrieve(by caller: CallerContext) -> LoadResult? {
        // Single flight: the first caller starts a load (S1), and all others join it (S2).
        let action = machine.retrieve(by: caller, waiters: waiters.count, at: clock.now)
        events?.deliver(machine.takeEvents())
        if let start = action.start { startLoad(start) }
        if case .waitAndRaise(let priority) = action { raiseLoad(to: priority) }
        return action.answer
    }

    package func cancel(_ waiter: WaiterID) {
        guard let waiter = waiters.take(waiter) else { return }
        machine.waiterCancelled()
        events?.deliver(machine.takeEvents())
        // The adapter that passed a handler in has answered it already.
        waiter.resumeTask(.failure(cancellation))
    }

    // MARK: Loads

    private func startLoad(_ start: LoadStart) {
        snapshot.publish(machine)
        let deadline = clock.schedule(after: policy.loadDeadline) { [self] in
            startTask { await self.deadlinePassed(start.load) }
        }
        let call = Cancellation()
        let task = startTask(priority: TaskPriority(rawValue: start.priority)) { [self] in
            await runLoad(start, deadline, call)
        }
        call.onCancel { task.cancel() }
        loadTask = task
    }

    private func raiseLoad(to priority: UInt8) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        // Outside of the actor, since an escalation may run the loader's code.
        if let loadTask { startTask { loadTask.escalatePriority(to: TaskPriority(rawValue: priority)) } }
    }

    /// - Parameter deadline: goes on when the session ends during the load, since a sign-out waits no longer than that.
    private func runLoad(_ start: LoadStart, _ deadline: AccessTokenTimer, _ call: Cancellation) async {
        if machine.isCurrent(start.load) { runningLoads.begin(start.load, call) }
        let reply = await askLoader(start)
        deadline.cancel()
        for signOut in runningLoads.end(start.load) { signOut() }
        guard let (result, error) = reply else { return }
        // The late answer of an ended session is dropped: it caches nothing and answers nobody (O1).
        let answer = machine.loadFinished(start.load, result, error: error, waiters: waiters.count, at: clock.now)
        answerAll(answer)
    }

    /// Leaves the actor, which a loader that does not suspend would hold up, and so would the code of an error.
    ///
    /// - Returns: `nil` if the load was overtaken: asking now would call the loader after its successor.
    @concurrent
    private nonisolated func askLoader(_ start: LoadStart) async -> (LoadResult, LoggedError?)? {
        // Weak: a task that the loader starts has the context for as long as it runs.
        let isWanted: @Sendable () -> Bool = { [weak self] in self?.snapshot.isCurrent(start.load) ?? false }
        guard isWanted() else { return nil }
        let context = LoadContext(loads: start.enclosing, priority: start.priority, isWanted: isWanted)
        let result: LoadResult = await LoadContext.$current.withValue(context) {
            do { return .success(try await loader.load(replacing: start.replacing)) } catch { return .failure(error) }
        }
        context.end(())
        return (result, LoggedError(result))
    }

    private func deadlinePassed(_ load: LoadID) {
        for signOut in runningLoads.end(load) { signOut() }
        answerAll(machine.deadlinePassed(load, waiters: waiters.count, at: clock.now))
    }

    // MARK: Sessions

    private func beginSession(with token: AccessToken?) {
        let action = machine.signIn(token, waiters: waiters.count, at: clock.now)
        answerAll(action.answer)
        if let start = action.start { startLoad(start) }
    }

    /// ``signOut()``, with `done` called on whichever thread finishes.
    ///
    /// - Parameter enclosing: the loads inside which the caller is.
    package func endSession(inside enclosing: [LoadID], then done: @escaping @Sendable () -> Void) {
        // The loader's own sign-out would have the session forgotten, and so sign out, for ever: it joins.
        let joins = machine.isSignedOut && lastForgetting.isUnderWay
        answerAll(machine.signOut(waiters: waiters.count))
        // Outside of the actor, since a cancellation runs the loader's code.
        for call in runningLoads.calls { startTask { call.cancel() } }
        if !joins {
            let forgetting = PendingWork()
            lastForgetting = forgetting
            for work in [forgetting, signOuts] { work.begin() }
            runningLoads.whenOver(before: machine.sessionEpoch) { [self] in
                startTask { await self.forgetSession(forgetting) }
            }
        }
        if runningLoads.contains(oneOf: enclosing) { done() } else { lastForgetting.whenOver(done) }
    }

    @concurrent
    private nonisolated func forgetSession(_ forgetting: PendingWork) async {
        let finish = OneShot(abandoned: ()) { [signOuts] in
            for work in [signOuts, forgetting] { work.end() }
        }
        let deadline = clock.schedule(after: policy.loadDeadline) { [self] in
            guard finish(()) else { return }
            startTask { await self.signOutTimedOut() }
        }
        await loader.signOut()
        deadline.cancel()
        finish(())
    }

    private func signOutTimedOut() {
        machine.signOutTimedOut()
        events?.deliver(machine.takeEvents())
    }

    // MARK: Decisions

    /// Take all, then call: publishes the token and answers the handlers as one step, then resumes the tasks.
    ///
    /// - Parameter result: the answer to all waiters; `nil` if they go on to wait.
    private func answerAll(_ result: LoadResult?) {
        let answered = result.map { (waiters: waiters.takeAll(), result: $0) }
        snapshot.publish(machine) {
            if let answered { answered.waiters.forEach { $0.callHandler(answered.result) } }
        }
        if let answered { answered.waiters.forEach { $0.resumeTask(answered.result) } }
        if result != nil { loadTask = nil }
        events?.deliver(machine.takeEvents())
    }
}
