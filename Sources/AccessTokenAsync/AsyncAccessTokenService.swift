public import AccessTokenCore
import Foundation

/// One valid token for many callers, by `async` functions: an actor, and an array of waiters.
///
/// Concurrent callers share one load of a new token (clauses S1 and S2).
///
/// ```swift
/// let service = AsyncAccessTokenService(loader: loader)
/// let token = try await service.token()
/// ```
///
/// **Concurrency** ``token()`` stays on the caller's executor, and with a valid token it does not suspend at all.
/// Waiters are resumed in the order in which they came (D2); callback code that waits beside them, by an adapter, is
/// answered first. Loads run in tasks of the service's own, on the executor given, without the task-local values of any
/// caller. They start with the priority of the caller that led them, and are raised to the highest priority of their
/// waiters where the platform can (macOS 26, iOS 26, Linux).
///
/// **Failure** Dropping the last reference loses no answer: a running load keeps the service until it has ended (D6).
///
/// What guards what:
///
/// | what | is guarded by, and runs on |
/// | --- | --- |
/// | every decision; `waiters`; the current load's task | the lock `state`, at the moment of the call |
/// | the beginning and the end of each load | the actor |
/// | the loader | a task for each load, on the executor given |
/// | waiting tasks | their own executors |
/// | the event handler | a thread that all services share |
/// | the deadline | a timer of the clock, see ``SystemTaskClock`` |
///
/// The lock, not the actor, guards the decisions: with a valid token, entering the actor costs a caller on the main actor
/// 5 to 13 µs and the lock 0.1 µs. An actor whose executor is a lock would run any extension of it under that lock, which
/// deadlocks with a cancellation.
public actor AsyncAccessTokenService: AsyncAccessTokenProviding {
    /// What a decision looks at and changes; not copyable, so that no decision is made on a copy.
    private struct State: ~Copyable, Sendable {
        var machine: AccessTokenStateMachine
        var waiters = WaiterList<Waiter>()
        var loadTask: LoadTask?
    }

    private nonisolated let id = ServiceID()
    private let loader: any AsyncAccessTokenLoader
    private let loadDeadline: TimeInterval?
    private let executor: (any TaskExecutor)?
    private let eventQueue: EventQueue
    private let onEvent: (@Sendable (AccessTokenEvent) -> Void)?

    private let state: AdaptiveLocked<State>
    @usableFromInline
    nonisolated let snapshot: TokenSnapshot
    @usableFromInline
    nonisolated let clock: ServiceClock

    private var runningLoads = RunningLoads()
    /// The sign-outs whose session the loader has not forgotten yet.
    package nonisolated let signOuts = PendingWork()

    /// Creates a service that is signed in and has no token: the first call loads, unless `signIn(_:)` comes first.
    ///
    /// - Parameters:
    ///   - loader: obtains new tokens.
    ///   - policy: when a token counts as expired, and how long a load may take.
    ///   - clock: wall clock and timers.
    ///   - executor: where loads, and the actor itself, run; `nil` is the global pool.
    ///   - onEvent: told what happens, in order, on a thread that all services share.
    public init(
        loader: any AsyncAccessTokenLoader,
        policy: AccessTokenPolicy = AccessTokenPolicy(),
        clock: any AccessTokenClock = SystemTaskClock(),
        executor: (any TaskExecutor)? = nil,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) {
        self.init(
            loader: loader,
            policy: policy,
            clock: clock,
            executor: executor,
            eventsOn: EventThread.queue,
            onEvent: onEvent
        )
    }

    /// Takes its event queue: whoever holds it decides when events are delivered.
    // The public initialiser would have a copy of it.
    @inline(never)
    package init(
        loader: any AsyncAccessTokenLoader,
        policy: AccessTokenPolicy,
        clock: any AccessTokenClock,
        executor: (any TaskExecutor)?,
        eventsOn eventQueue: @escaping EventQueue,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)?
    ) {
        _ = EnclosingLoads.areReadFromTask
        self.loader = loader
        self.loadDeadline = policy.corrected.loadDeadline
        self.clock = ServiceClock(clock, isSystem: clock is SystemTaskClock)
        self.executor = executor
        self.eventQueue = eventQueue
        self.onEvent = onEvent
        let machine = AccessTokenStateMachine(service: id, policy: policy, reportsEvents: onEvent != nil)
        snapshot = TokenSnapshot(reportsHits: onEvent != nil)
        state = AdaptiveLocked(State(machine: machine))
        // A corrected policy is an event already.
        decide { _ in }
    }

    // MARK: Callers

    /// The token, if a valid one is there: never loads, never waits.
    @inlinable public nonisolated final var currentToken: AccessToken? {
        snapshot.usableToken(at: clock.now)
    }

    /// A valid token; loads if it has to (clauses C1 to C5).
    ///
    /// **Cancellation** Throws `CancellationError` at once (X1) and leaves the load alone (X2); a caller that is
    /// cancelled already starts no load (X3), but gets a token that is there.
    ///
    /// **Failure** A load's error, unchanged (F1); ``AccessTokenError``.
    @inlinable
    public nonisolated(nonsending) final func token() async throws -> AccessToken {
        if let token = freshToken { return token }
        return try await waitForToken()
    }

    /// Says that a server rejected this token (clauses I1 to I3).
    public nonisolated func invalidate(_ rejected: AccessToken) {
        decide { state in
            state.machine.invalidate(rejected)
            snapshot.publish(state.machine.publishedToken)
        }
    }

    /// Begins a session with this token, in place of the present session if there is one (clause O2).
    ///
    /// Callers that are waiting for a load of the present session are answered with the token. If it has expired, they go on
    /// to wait, for a load of the new session.
    public nonisolated func signIn(_ token: AccessToken) {
        beginSession(with: token)
    }

    /// Begins a session whose first token the loader has to load: it has the session's credential already.
    ///
    /// Callers that are waiting for a load of the present session go on to wait, for a load of the new one (clause O2).
    public nonisolated func signIn() {
        beginSession(with: nil)
    }

    private nonisolated func beginSession(with token: AccessToken?) {
        let now = clock.now
        var start: LoadStart?
        var task: LoadTask?
        endFlight { state in
            switch state.machine.signIn(token, waiters: state.waiters.count, at: now) {
            case .none: return nil
            case .answerWaiters(let answer): return answer
            case .load(let load):
                start = load
                task = prepareLoad(&state)
                return nil
            }
        }
        if let start, let task { startLoad(start, task) }
    }

    /// Ends the session, and returns when the loader has forgotten it, also to a cancelled caller.
    ///
    /// Callers get ``AccessTokenError/signedOut`` at once (clauses O1 and O3). A load that is running is cancelled, since
    /// its session is over, and waited for, at most until its deadline; then the loader forgets the session; then this
    /// returns. So no load of the ended session is running then or will begin, unless it is past its deadline. Wait for it
    /// before the next session's credential is stored where the loader finds it.
    ///
    /// From inside a load it returns without waiting for that load, which would wait for itself.
    public nonisolated(nonsending) func signOut() async {
        await withCheckedContinuation { continuation in
            endSession { continuation.resume() }
        }
    }

    /// Ends the session as ``signOut()`` does; for code that is not async, and counts at once.
    ///
    /// - Parameter done: called in a task, when the loader has forgotten the session.
    @available(*, renamed: "signOut()")
    public nonisolated func signOut(then done: @escaping @Sendable () -> Void) {
        endSession(then: done)
    }

    private nonisolated func endSession(then done: @escaping @Sendable () -> Void) {
        let enclosing = EnclosingLoads.current
        var epoch = 0
        var load: LoadTask?
        endFlight { state in
            let end = state.machine.signOut(waiters: state.waiters.count)
            epoch = state.machine.sessionEpoch
            signOuts.begin()
            if end != nil { load = state.loadTask.take() }
            return end
        }
        load?.cancel()
        Task.detached(executorPreference: executor, priority: Task.currentPriority) { [self] in
            await forgetSession(before: epoch, inside: enclosing, then: done)
        }
    }

    // MARK: Waiters

    /// The token, if a valid one is there and its successor need not be loaded yet.
    @inlinable package nonisolated final var freshToken: AccessToken? {
        snapshot.freshToken(at: clock.now)
    }

    /// Calls `handler` once with what ``token()`` would return or throw; returns what cancels it.
    ///
    /// - Parameter handler: only enqueues; it may be called under the lock, so that answers keep the order of the calls.
    package nonisolated func retrieveToken(
        then handler: @escaping @Sendable (LoadResult) -> Void
    ) -> (@Sendable () -> Void)? {
        var waiter: WaiterID?
        retrieve(.handler(handler)) {
            false
        } register: {
            waiter = $0
        }
        guard let waiter else { return nil }
        return { [self, waiter] in cancel { waiter } }
    }

    /// Makes a caller a waiter, or answers it.
    ///
    /// - Parameters:
    ///   - isCancelled: asked under the lock, whether the caller was cancelled already.
    ///   - register: called under the lock, if the caller waits, with what cancels it.
    nonisolated func retrieve(_ waiter: Waiter, isCancelled: () -> Bool, register: (WaiterID) -> Void) {
        let now = clock.now
        let (priority, loads) = (Task.currentPriority.rawValue, EnclosingLoads.current)
        var task: LoadTask?
        var answer: LoadResult?
        var start: LoadStart?
        var raised: UInt8?
        decide { state in
            let caller = CallerContext(isCancelled: isCancelled(), priority: priority, loads: loads)
            switch state.machine.retrieve(by: caller, waiters: state.waiters.count, at: now) {
            case .answer(let result): answer = result
            case .answerAndLoad(let token, let load): (answer, start) = (.success(token), load)
            case .wait: break
            case .waitAndLoad(let load): start = load
            case .waitAndRaise(let priority): (task, raised) = (state.loadTask, priority)
            }
            if start != nil {
                snapshot.publish(state.machine.publishedToken)
                task = prepareLoad(&state)
            }
            if let answer {
                waiter.callHandler(answer)
            } else {
                register(state.waiters.append(waiter))
            }
        }
        if let answer { waiter.resumeTask(answer) }
        if let start, let task { startLoad(start, task) }
        if let raised, let task { raise(task, to: raised) }
    }

    /// Answers a cancelled waiter, unless it has been answered already.
    ///
    /// - Parameter waiter: asked under the lock, who was cancelled.
    nonisolated func cancel(_ waiter: () -> WaiterID?) {
        let cancelled = decide { state in
            guard let cancelled = waiter().flatMap({ state.waiters.take($0) }) else { return Waiter?.none }
            state.machine.waiterCancelled()
            cancelled.callHandler(.failure(cancellation))
            return cancelled
        }
        cancelled?.resumeTask(.failure(cancellation))
    }

    // MARK: Decisions

    /// Lets the state machine decide, under the lock.
    ///
    /// Handlers are given their answers under the lock, to keep the order of the decisions; they only enqueue. Tasks are
    /// resumed after it, since a cancellation may hold a lock of the task's while it waits for this one.
    @discardableResult
    private nonisolated func decide<Action>(_ input: (inout State) -> Action) -> Action {
        let (action, hasEvents) = state.withLock { state in
            let action = input(&state)
            return (action, state.machine.startsDelivery())
        }
        if hasEvents { startDelivery() }
        return action
    }

    /// Decides what may be the end of the current load, and answers those who waited for it.
    private nonisolated func endFlight(_ input: (inout State) -> LoadResult?) {
        let answered = decide { state in
            let result = input(&state)
            return answerHandlers(&state, result)
        }
        if let answered { answered.waiters.forEach { $0.resumeTask(answered.result) } }
    }

    /// Publishes the token and answers the handlers in one step; returns all waiters, of which the tasks are still to be
    /// resumed.
    // Four inputs end a load: each would have a copy of it.
    @inline(never)
    private nonisolated func answerHandlers(
        _ state: inout State,
        _ result: LoadResult?
    ) -> (waiters: WaiterList<Waiter>, result: LoadResult)? {
        let answer = result.map { (waiters: state.waiters.takeAll(), result: $0) }
        if answer != nil { state.loadTask = nil }
        snapshot.publish(state.machine.publishedToken) {
            if let answer { answer.waiters.forEach { $0.callHandler(answer.result) } }
        }
        return answer
    }

    // Every input may have events: each would have a copy of it.
    @inline(never)
    private nonisolated func startDelivery() {
        eventQueue { self.deliverEvents() }
    }

    private nonisolated func deliverEvents() {
        guard let events = nextEvents() else { return }
        deliver(events)
    }

    /// Lets other services have their turn after each batch.
    private nonisolated func deliver(_ events: [AccessTokenEvent]) {
        for event in events { onEvent?(event) }
        if let more = nextEvents() { eventQueue { self.deliver(more) } }
    }

    private nonisolated func nextEvents() -> [AccessTokenEvent]? {
        state.withLock { $0.machine.nextEvents() }
    }

    // MARK: Loads

    /// The task of a load that was decided on, which may be cancelled before it is there.
    private typealias LoadTask = LateBound<Task<Void, Never>>
    /// The timer of a load, which may end before the timer is there.
    private typealias LoadDeadline = LateBound<AccessTokenTimer>

    private nonisolated func prepareLoad(_ state: inout State) -> LoadTask {
        let task = LoadTask { $0.cancel() }
        state.loadTask = task
        return task
    }

    private nonisolated func startLoad(_ start: LoadStart, _ task: LoadTask) {
        let deadline = LoadDeadline { $0.cancel() }
        let priority = TaskPriority(rawValue: start.priority)
        task.bind(
            Task.detached(executorPreference: executor, priority: priority) { [self] in
                await EnclosingLoads.with(start.enclosing) { await runLoad(start, deadline) }
            }
        )
        // After the load has been started, since a timer takes as long to make as the way to the loader.
        if let loadDeadline {
            deadline.bind(clock.schedule(after: loadDeadline) { [self] in deadlinePassed(start.load) })
        }
        // A caller of higher priority may have joined before the task was there.
        let wanted = state.withLock { $0.machine.priority(of: start.load) }
        if let wanted, wanted > start.priority { raise(task, to: wanted) }
    }

    private nonisolated func raise(_ task: LoadTask, to priority: UInt8) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        task.handle?.escalatePriority(to: TaskPriority(rawValue: priority))
    }

    /// - Parameter deadline: goes on when the session ends during the load, since a sign-out waits no longer than that.
    private func runLoad(_ start: LoadStart, _ deadline: LoadDeadline) async {
        let flight = start.load
        runningLoads.begin(flight)
        let result = await askLoader(start)
        deadline.cancel()
        // Before the answers: who is answered, and then signs out, finds that the load is over.
        loadIsOver(flight)
        if let result { loadFinished(flight, result) }
    }

    /// Leaves the actor, which a loader that does not suspend would hold up.
    ///
    /// - Returns: `nil` if the load is no more the current one when the loader could be asked. It may have become so on the
    ///   way here; then the loader must not be asked after the next load.
    @concurrent
    private nonisolated func askLoader(_ start: LoadStart) async -> LoadResult? {
        guard state.withLock({ $0.machine.isCurrent(start.load) }) else { return nil }
        do {
            return .success(try await loader.load(replacing: start.replacing))
        } catch {
            return .failure(error)
        }
    }

    private func loadFinished(_ flight: LoadID, _ result: LoadResult) {
        let now = clock.now
        let error = onEvent == nil ? nil : LoggedError(result)
        endFlight { $0.machine.loadFinished(flight, result, error: error, waiters: $0.waiters.count, at: now) }
    }

    private nonisolated func deadlinePassed(_ flight: LoadID) {
        let now = clock.now
        endFlight { $0.machine.deadlinePassed(flight, waiters: $0.waiters.count, at: now) }
        // After the decision: a load that begins later than this sees that it is not the current one any more.
        Task.detached(executorPreference: executor) { [self] in await loadIsOver(flight) }
    }

    private func loadIsOver(_ flight: LoadID) {
        for action in runningLoads.end(flight) { action() }
    }

    private nonisolated func forgetSession(
        before epoch: Int,
        inside enclosing: [LoadID],
        then done: @escaping @Sendable () -> Void
    ) async {
        let isInsideLoad = await isRunning(oneOf: enclosing)
        if isInsideLoad { done() }
        await loadsAreOver(before: epoch)
        await loader.signOut()
        signOuts.end()
        if !isInsideLoad { done() }
    }

    private func isRunning(oneOf loads: [LoadID]) -> Bool {
        runningLoads.contains(oneOf: loads)
    }

    private func loadsAreOver(before epoch: Int) async {
        await withCheckedContinuation { continuation in
            let isWaiting = runningLoads.wait(forSessionsBefore: epoch) { continuation.resume() }
            if !isWaiting { continuation.resume() }
        }
    }
}
