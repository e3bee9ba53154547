public import AccessTokenCore
import AccessTokenFoundation
public import AccessTokenSynchronization

/// Gives many callers one valid token, by `async` functions: an actor guards an array of waiters.
///
/// Concurrent callers share one load of a new token (clauses S1 and S2 of the contract: see `Clauses.md`).
///
/// ```swift
/// let service = AsyncAccessTokenService(loader: loader)
/// let token = try await service.token()
/// ```
///
/// **Concurrency** With a valid token, ``token()`` stays on the caller's executor and does not suspend at all. While a
/// load runs that every caller has to wait for, it suspends there. Otherwise, or with an event handler, it enters the
/// actor first. Waiters are resumed in the order in which they came (D2); callback code that waits beside them, by an
/// adapter, is answered first. Loads run in tasks of the service's own, without any caller's task-local values, at one
/// high priority.
///
/// **Failure** Dropping the last reference loses no answer: a running load keeps the service until it has ended (D6).
///
/// | what | is guarded by, and runs on |
/// | --- | --- |
/// | every decision, on a state machine | the actor. It runs on the pool or on the calling task's preferred executor; if that executor blocks, the actor blocks |
/// | the waiters | a lock. Decisions take them out on the actor; while every caller has to wait, a caller adds itself without the actor |
/// | the loader | a task for each load, on the executor given |
/// | waiting tasks | their own executors, whose `enqueue` is called on the actor; if it blocks, the actor blocks |
/// | the event handler | a thread that all services share |
/// | the deadline | a thread that all timers share, and then the actor, on a thread of the pool |
public actor AsyncAccessTokenService: AsyncAccessTokenProviding {
    private var machine: AccessTokenStateMachine
    /// The callers that wait for a load, in order: an array of tasks, and one of handlers that came by an adapter.
    private let waiters = PendingCallers()

    /// The valid token, for callers that need not wait.
    @usableFromInline nonisolated let snapshot: TokenSnapshot
    @usableFromInline nonisolated let clock: ServiceClock

    private let loader: any AsyncAccessTokenLoader
    private let loadDeadline: TimeInterval?
    /// Calls the loader: on the executor given, or in the global pool.
    private let startLoaderTask: TaskStarter
    /// Starts the service's other tasks, which no loader can hold up.
    package nonisolated let startTask: TaskStarter
    private let events: EventDelivery?

    /// Creates a service that is signed in.
    ///
    /// - Parameters:
    ///   - token: what the app stored when it last ran. Without a token, or with one that has expired, the first call
    ///     loads, and the loader is told what the load replaces (C11).
    ///   - loader: obtains new tokens.
    ///   - policy: when a token counts as expired, and how long a load may take.
    ///   - clock: wall clock and timers.
    ///   - onEvent: told what happens, in order, on a thread that all services share.
    public init(
        token: AccessToken? = nil,
        loader: any AsyncAccessTokenLoader,
        policy: AccessTokenPolicy = AccessTokenPolicy(),
        clock: any AccessTokenClock = SystemClock(),
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) {
        self.init(
            token: token,
            loader: loader,
            policy: policy,
            clock: clock,
            startTask: TaskStarter(),
            events: onEvent.map { EventDelivery(to: $0) }
        )
    }

    /// Creates a service whose loader is called on an executor.
    ///
    /// A caller enters the actor on its own executor. Cancellations and the deadlines of loads need a free thread of
    /// the pool, and nothing of the executor. A loader that blocks the executor holds up the service's other loads, and
    /// a sign-out, for which the loader has to be called.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public init(
        token: AccessToken? = nil,
        loader: any AsyncAccessTokenLoader,
        policy: AccessTokenPolicy = AccessTokenPolicy(),
        clock: any AccessTokenClock = SystemClock(),
        executor: any TaskExecutor,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) {
        self.init(
            token: token,
            loader: loader,
            policy: policy,
            clock: clock,
            startTask: TaskStarter(),
            startLoaderTask: TaskStarter(executor: executor),
            events: onEvent.map { EventDelivery(to: $0) }
        )
    }

    /// Takes what starts its tasks, for tests that decide what comes before what.
    package init(
        token: AccessToken? = nil,
        loader: any AsyncAccessTokenLoader,
        policy: AccessTokenPolicy,
        clock: any AccessTokenClock,
        startTask: TaskStarter,
        startLoaderTask: TaskStarter? = nil,
        events: EventDelivery?
    ) {
        self.loader = loader
        self.startTask = startTask
        self.startLoaderTask = startLoaderTask ?? startTask
        self.clock = ServiceClock(clock)
        loadDeadline = policy.corrected.loadDeadline
        self.events = events
        machine = AccessTokenStateMachine(token: token, policy: policy, reportsEvents: events != nil, at: clock.now)
        snapshot = TokenSnapshot(reportsHits: events != nil)
        // The first token is to be published, and a corrected policy is an event.
        snapshot.publish(&machine) {}
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
        // `final` is what keeps this on the caller's executor.
        if let token = freshToken { return token }
        return try await waitForToken()
    }

    /// Says that a server rejected this token (clauses I1 to I3).
    public func invalidate(_ rejected: AccessToken) {
        perform { machine.invalidate(rejected) }
    }

    /// Begins a session with this token, in place of the present session if there is one (clause O2).
    ///
    /// It is for a login. Pass a token that the app has stored to the initializer instead.
    ///
    /// Callers that wait for a load of the present session are answered with the token, or wait on if it has expired.
    /// The new session's first load starts when the present session's load has ended or is past its deadline: if both
    /// sessions are of one user, two loads would send the same refresh token (O9).
    public func signIn(_ token: AccessToken) {
        beginSession(with: token)
    }

    /// Begins a session whose first token the loader has to load: it has the session's credential already.
    ///
    /// Callers that wait for a load of the present session wait on, for a load of the new one, which starts as with
    /// `signIn(_:)` (clauses O2 and O9).
    public func signIn() {
        beginSession(with: nil)
    }

    /// Ends the session, and returns when the loader has forgotten it, also to a cancelled caller.
    ///
    /// Callers get ``AccessTokenError/signedOut`` at once (clauses O1 and O3). A load that is running is cancelled, and
    /// waited for, at most until its deadline. Then the loader forgets the session, for which it has as long as for a
    /// load. Store the next session's credential, where the loader finds it, only after this has returned: no load of
    /// the ended session can begin then.
    ///
    /// A loader that blocks its executor for ever also keeps this from returning: the loader's time counts from when
    /// it can be called. A loader may sign out inside of its own load: before the deadline of that load, this does not
    /// wait for it. The loader forgets the session after that load: store the next session's credential later than
    /// that. If another session has begun since, or a newer load has brought a token, nothing ends.
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
    nonisolated(nonsending) final func waitForToken() async throws -> AccessToken {
        let task = Suspension()
        let loads = LoadContext.currentLoads
        var id: Waiter.ID?
        // Others may be answered at once; and where there are events, the state machine has to tell who waits.
        if !Task.isCancelled, loads.isEmpty, events == nil { id = waiters.appendIfOpen(.task(task)) }
        if id == nil { id = await decide(on: .task(task), inside: loads) }
        guard let id else { return try await task.answer() }
        return try await withTaskCancellationHandler {
            try await task.answer()
        } onCancel: {
            startTask { [self] in await cancel(id) }
        }
    }

    /// Answers a handler, or makes it a waiter; returns what cancels it.
    ///
    /// - Parameter handler: only enqueues; called on the actor, where answers keep the order of the calls.
    package func retrieveToken(
        inside loads: [Load.ID],
        then handler: @escaping @Sendable (LoadResult) -> Void
    ) -> Waiter.ID? {
        decide(on: .handler(handler), inside: loads)
    }

    private func decide(on waiter: Waiter, inside loads: [Load.ID]) -> Waiter.ID? {
        let (isCancelled, now) = (Task.isCancelled, clock.now)
        var id: Waiter.ID?
        perform {
            // Single flight: the first caller starts a load (S1), and all others join it (S2).
            let count = waiters.count
            switch machine.retrieve(isCancelled: isCancelled, inside: loads, waiters: count, at: now) {
            case .answer(let result):
                send(Answer(to: waiter, result))
            case .answerAndLoad(let token, let load):
                send(Answer(to: waiter, .success(token)))
                start(load)
            case .wait:
                id = waiters.append(waiter)
            case .waitAndLoad(let load):
                id = waiters.append(waiter)
                start(load)
            }
        }
        return id
    }

    package func cancel(_ id: Waiter.ID) {
        perform {
            guard let waiter = waiters.take(id) else { return }
            // Consumed: what a handler captures is released where the handler is called.
            send(Answer(to: consume waiter, machine.cancelWaiter()))
        }
    }

    private func answerAll(_ result: LoadResult) {
        send(waiters.takeAll(toAnswer: result))
    }

    /// Publishes the token and has handlers called, as one step (D2, D9).
    private func send(_ answer: Answer) {
        publish { answer.callHandlers() }
        answer.resumeTasks()
    }

    // MARK: Loads

    /// Begun inside the decision: a task that had to enter the actor first would ask the loader later.
    private func start(_ load: Load) {
        _ = machine.loadBegins(load)
        // The load's task looks there whether the load is wanted.
        publish {}
        // Set first: who sees that the loader is asked can count on the deadline.
        let deadline = clock.schedule(after: loadDeadline) { [self] in
            startTask { await self.deadlinePassed(load) }
        }
        // It stays set after a sign-out, which waits for this load until it fires, at most.
        load.ended.whenFired { deadline.cancel() }
        let task = startTask { [self] in await run(load) }
        load.cancelled.whenFired { task.cancel() }
    }

    /// Runs off the actor, and so releases the load's error there: an error's deinit may do anything.
    @concurrent
    private nonisolated func run(_ load: Load) async {
        let answer = await startLoaderTask.run { [self] in await askLoader(for: load) } ?? nil
        load.ended.fire()
        await loadFinished(load, answer)
        withExtendedLifetime(answer) {}
    }

    /// Runs off the actor: neither a loader that blocks nor the code of an error is to hold it up.
    ///
    /// - Returns: `nil` if the load was overtaken on its way from the actor.
    @concurrent
    private nonisolated func askLoader(for load: Load) async -> LoadAnswer? {
        // Weak: the tasks that a loader starts inherit the context, and may outlive the load.
        let context = LoadContext(of: load) { [weak self] in self?.snapshot.isCurrent(load.id) ?? false }
        guard context.isWanted() else { return nil }
        let result: LoadResult = await LoadContext.$current.withValue(context) {
            do { return .success(try await loader.load(replacing: load.replacing)) } catch { return .failure(error) }
        }
        return LoadAnswer(result, isReported: events != nil)
    }

    private func loadFinished(_ load: Load, _ answer: LoadAnswer?) {
        endLoad { waiters, now in machine.loadFinished(load, answer, waiters: waiters, at: now) }
    }

    private func deadlinePassed(_ load: Load) {
        endLoad { waiters, now in machine.deadlinePassed(load, waiters: waiters, at: now) }
    }

    /// Asks the state machine what follows for those who wait, and does that.
    private func endLoad(_ decide: (_ waiters: Int, _ now: Date) -> AccessTokenStateMachine.LoadEndAction) {
        let now = clock.now
        perform {
            switch decide(waiters.close(), now) {
            case .nothing: break
            case .answer(let result): answerAll(result)
            case .load(let load): start(load)
            case .forget(let sessionEpochs): sessionEpochs.forEach(forget)
            }
        }
    }

    // MARK: Sessions

    /// How often somebody has signed out, all calls that came before this one among them.
    package var signOuts: Int { machine.signOuts }

    /// The same, as far as the actor has published it.
    package nonisolated var publishedSignOuts: Int { snapshot.signOuts }

    /// Begins a session at the end of a login, unless somebody has signed out since the login began.
    package func signIn(_ token: AccessToken?, since signOuts: Int) -> Bool {
        beginSession(with: token, since: signOuts)
    }

    @discardableResult
    private func beginSession(with token: AccessToken?, since signOuts: Int? = nil) -> Bool {
        let now = clock.now
        var begins = true
        perform {
            if let signOuts, signOuts != machine.signOuts { return begins = false }
            let count = waiters.close()
            switch machine.signIn(token, waiters: count, at: now) {
            case .nothing: break
            case .answer(let result): answerAll(result)
            case .load(let load): start(load)
            }
        }
        return begins
    }

    /// ``signOut()``, with `done` called on whichever thread finishes.
    ///
    /// - Parameter loads: the loads inside which the caller is.
    package func endSession(inside loads: [Load.ID], then done: @escaping @Sendable () -> Void) {
        perform {
            guard !machine.isLateSignOut(inside: loads) else { return done() }
            let count = waiters.close()
            let action = machine.signOut(inside: loads, waiters: count, then: done)
            answerAll(.failure(AccessTokenError.signedOut))
            switch action {
            case .forget(let sessionEpoch, let running):
                cancel(running)
                forget(sessionEpoch)
            case .wait(let running):
                cancel(running)
            case .done(let running):
                cancel(running)
                done()
            }
        }
    }

    private func cancel(_ loads: [Load]) {
        // What a loader does when it is cancelled is not done on the actor.
        startTask { for load in loads { load.cancelled.fire() } }
    }

    /// Calls `done` when the loader has forgotten every session that has ended.
    package func whenForgotten(_ done: @escaping @Sendable () -> Void) {
        perform {
            switch machine.whenForgotten(done) {
            case .done: done()
            case .wait: break
            }
        }
    }

    private func forget(_ sessionEpoch: Int) {
        startLoaderTask { [self] in await askLoaderToForget(sessionEpoch) }
    }

    @concurrent
    private nonisolated func askLoaderToForget(_ sessionEpoch: Int) async {
        let deadline = clock.schedule(after: loadDeadline) { [self] in
            startTask { await self.forgettingTimedOut(sessionEpoch) }
        }
        await loader.signOut()
        deadline.cancel()
        // The loader's executor does not enter the actor: see ``TaskStarter/run(_:)``.
        startTask { [self] in await forgettingFinished(sessionEpoch) }
    }

    private func forgettingFinished(_ sessionEpoch: Int) {
        perform { for done in machine.forgettingFinished(sessionEpoch) { done() } }
    }

    private func forgettingTimedOut(_ sessionEpoch: Int) {
        perform { for done in machine.forgettingTimedOut(sessionEpoch) { done() } }
    }

    /// What a look at the store has found; `false` if the session has changed since that look began.
    package func looked(_ found: StoredSession?, since changes: UInt32) -> Bool {
        let now = clock.now
        var counts = false
        perform { counts = machine.looked(found, since: changes, at: now) }
        return counts
    }

    // MARK: Decisions

    /// Decides, on the actor.
    ///
    /// Loaders, event handlers and the code of errors, their deinits among it, run elsewhere. Of foreign code the actor
    /// runs a clock and its timers, and the `enqueue` of the executors on which waiters go on.
    private func perform(_ decision: () -> Void) {
        decision()
        publish {}
        if machine.isAwaited { waiters.open() }
    }

    private func publish(_ answer: () -> Void) {
        snapshot.publish(&machine, answer)
        events?.deliver(machine.takeEvents())
    }
}
