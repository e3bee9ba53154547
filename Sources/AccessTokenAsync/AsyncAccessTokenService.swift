public import AccessTokenCore
import Foundation

/// One valid token for many callers, by `async` functions: an actor, and an array of waiters.
///
/// Concurrent callers share one load of a new token (clauses S1 and S2). Every decision is the state machine's, made
/// under a lock at the moment of the call; what is to be done about it is done on the actor, in the order of the
/// decisions.
///
/// ```swift
/// let service = AsyncAccessTokenService(loader: loader)
/// let token = try await service.token()
/// ```
///
/// **Concurrency** ``token()`` stays on the caller's executor, and with a valid token it does not suspend at all.
/// Waiters are resumed in the order in which they came (D2). Loads run in tasks of the service's own, on the executor
/// given, without the task-local values of any caller, and are raised to the highest priority of their waiters where
/// the platform can (macOS 26, iOS 26, Linux).
///
/// **Failure** Dropping the last reference loses no answer: a running load keeps the service until it has ended (D6).
public actor AsyncAccessTokenService: AsyncAccessTokenProviding {
    /// What is decided under the lock, and not yet carried out on the actor.
    struct Decisions {
        var machine: AccessTokenStateMachine<Waiter>
        var effects: [Effect] = []
        var isCarryingOut = false
    }

    private let loader: any AsyncAccessTokenLoader
    private let loadDeadline: TimeInterval?
    private let executor: (any TaskExecutor)?
    private let onEvent: (@Sendable (AccessTokenEvent) -> Void)?

    let decisions: Locked<Decisions>
    @usableFromInline
    nonisolated let snapshot = TokenSnapshot()
    @usableFromInline
    nonisolated let clock: ServiceClock

    private var deadline: AccessTokenTimer?
    private var load: (flight: FlightID, task: Task<Void, Never>)?

    /// Creates a service that is signed in and has no token: the first call loads, unless `signIn(_:)` comes first.
    ///
    /// - Parameters:
    ///   - loader: obtains new tokens.
    ///   - policy: when a token counts as expired, and how long a load may take.
    ///   - clock: wall clock and timers.
    ///   - executor: where loads, and the actor itself, run; `nil` is the global pool.
    ///   - onEvent: told what happens, on the actor.
    public init(
        loader: any AsyncAccessTokenLoader,
        policy: AccessTokenPolicy = AccessTokenPolicy(),
        clock: any AccessTokenClock = SystemTaskClock(),
        executor: (any TaskExecutor)? = nil,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) {
        self.loader = loader
        self.loadDeadline = policy.corrected.loadDeadline
        self.clock = ServiceClock(clock, isSystem: clock is SystemTaskClock)
        self.executor = executor
        self.onEvent = onEvent
        let machine = AccessTokenStateMachine<Waiter>(policy: policy, reportsEvents: onEvent != nil)
        let corrections = onEvent == nil ? [] : policy.corrections.map { Effect.report(.policyCorrected($0)) }
        decisions = Locked(Decisions(machine: machine, effects: corrections, isCarryingOut: !corrections.isEmpty))
        if !corrections.isEmpty {
            Task.detached(executorPreference: executor) { await self.carryOut() }
        }
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
    public nonisolated(nonsending) func invalidate(_ rejected: AccessToken) async {
        decide { $0.invalidate(rejected) }
    }

    /// Says that a server rejected this token (clauses I1 to I3); for code that is not async, and counts at once.
    public nonisolated func invalidate(_ rejected: AccessToken) {
        decide { $0.invalidate(rejected) }
    }

    /// Begins a session with this token, in place of the present session if there is one (clause O2).
    public nonisolated(nonsending) func signIn(_ token: AccessToken) async {
        let now = clock.now
        decide { $0.signIn(token, at: now) }
    }

    /// Begins a session with this token (clause O2); for code that is not async, and counts at once.
    public nonisolated func signIn(_ token: AccessToken) {
        let now = clock.now
        decide { $0.signIn(token, at: now) }
    }

    /// Ends the session (clauses O1 and O3), and returns when the loader has forgotten it, also to a cancelled caller.
    ///
    /// Wait for it before the next session's credential is stored where the loader finds it. Inside a load it returns at
    /// once: the loader may be able to forget only when that load is over.
    public nonisolated(nonsending) func signOut() async {
        let isInsideLoad = LoadContext.loads.flight(of: self) != nil
        decide { $0.signOut() }
        let forgetting = Task.detached(executorPreference: executor) { [loader] in await loader.signOut() }
        if !isInsideLoad { await forgetting.value }
    }

    // MARK: Waiters

    /// The token, if a valid one is there and its successor need not be loaded yet.
    @inlinable package nonisolated final var freshToken: AccessToken? {
        snapshot.freshToken(at: clock.now)
    }

    /// Calls `handler` once with what ``token()`` would return or throw; returns what cancels it.
    ///
    /// - Parameters:
    ///   - loads: those inside which the caller asks.
    ///   - handler: only enqueues; it may be called under the lock, so that answers keep the order of the calls.
    package nonisolated func retrieveToken(
        inside loads: [LoadID],
        then handler: @escaping @Sendable (Result<AccessToken, any Error>) -> Void
    ) -> (@Sendable () -> Void)? {
        let now = clock.now
        let caller = CallerContext(ownLoad: loads.flight(of: self), loads: loads)
        let ticket = decide { $0.retrieve(.handler(handler), by: caller, at: now) }
        guard let ticket else { return nil }
        return { [self] in decide { $0.cancel(ticket) } }
    }

    /// ``signOut()`` for a caller that is not async.
    package nonisolated func signOut(then done: @escaping @Sendable () -> Void) {
        decide { $0.signOut() }
        Task.detached(executorPreference: executor) { [loader] in
            await loader.signOut()
            done()
        }
    }

    // MARK: Decisions and effects

    /// Lets the state machine decide, and has the action carried out.
    ///
    /// Tasks keep no order, so the effects wait in an array until a task on the actor has carried them out. Handlers are
    /// given their answers under the lock, to keep their order; tasks after it, since a cancellation may hold a lock of
    /// the task's while it waits for this one.
    @discardableResult
    nonisolated func decide(
        _ input: (inout AccessTokenStateMachine<Waiter>) -> Action<Waiter>
    ) -> Int? {
        var mustCarryOut = false
        let action = decisions.withLock { decisions in
            let action = input(&decisions.machine)
            if action.changesToken {
                snapshot.publish(decisions.machine.publishedToken) { answerHandlers(action) }
            } else {
                answerHandlers(action)
            }
            if !action.effects.isEmpty {
                decisions.effects += action.effects
                mustCarryOut = !decisions.isCarryingOut
                decisions.isCarryingOut = true
            }
            return action
        }
        if let answer = action.answer {
            answer.waiters.forEach { $0.takeAsTask(answer.result) }
        }
        if mustCarryOut {
            Task.detached(executorPreference: executor) { await self.carryOut() }
        }
        return action.ticket
    }

    private nonisolated func answerHandlers(_ action: Action<Waiter>) {
        guard let answer = action.answer else { return }
        answer.waiters.forEach { $0.takeAsHandler(answer.result) }
    }

    private func carryOut() {
        while let effects = nextEffects() {
            for effect in effects {
                switch effect {
                case .startLoad(let flight, let old, let caller): startLoad(flight, replacing: old, for: caller)
                case .raisePriority(let flight, let priority):
                    raisePriority(flight, to: TaskPriority(rawValue: priority))
                case .endFlight:
                    setDeadline(nil)
                    load = nil
                case .report(let event): onEvent?(event)
                }
            }
        }
    }

    private func nextEffects() -> [Effect]? {
        decisions.withLock { decisions in
            guard decisions.effects.isEmpty else {
                defer { decisions.effects = [] }
                return decisions.effects
            }
            decisions.isCarryingOut = false
            return nil
        }
    }

    private func startLoad(_ flight: FlightID, replacing old: AccessToken?, for caller: CallerContext) {
        setDeadline(
            loadDeadline.map { seconds in
                clock.schedule(after: seconds) { [self] in
                    let now = clock.now
                    decide { $0.deadlinePassed(flight, at: now) }
                }
            }
        )
        let priority = TaskPriority(rawValue: caller.priority)
        let loads = caller.loads + [LoadID(of: self, flight)]
        let task = Task.detached(executorPreference: executor, priority: priority) { [self] in
            await LoadContext.$loads.withValue(loads) { await load(flight, replacing: old) }
        }
        load = (flight, task)
    }

    private nonisolated func load(_ flight: FlightID, replacing old: AccessToken?) async {
        guard decisions.withLock({ $0.machine.owns(flight) }) else { return }
        let result: Result<AccessToken, any Error>
        do {
            result = .success(try await loader.load(replacing: old))
        } catch {
            result = .failure(error)
        }
        let now = clock.now
        decide { $0.loadFinished(flight, result, at: now) }
    }

    private func raisePriority(_ flight: FlightID, to priority: TaskPriority) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        guard let load, load.flight == flight else { return }
        load.task.escalatePriority(to: priority)
    }

    private func setDeadline(_ timer: AccessTokenTimer?) {
        deadline?.cancel()
        deadline = timer
    }
}
