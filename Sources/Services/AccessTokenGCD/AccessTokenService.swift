public import AccessTokenCore
import AccessTokenFoundation
public import AccessTokenSynchronization
public import Dispatch

/// Gives many callers one valid token, by callbacks: a private queue guards an array of pending handlers.
///
/// Concurrent callers share one load of a new token (clauses S1 and S2 of the contract: see `Clauses.md`).
///
/// ```swift
/// let service = AccessTokenService(loader: loader, handlerQueue: .main)
/// service.retrieveToken { result in … }
/// ```
///
/// **Concurrency** All methods can be called from any thread, also from inside a handler (D5). Handlers are called one
/// at a time, in the order of the calls (D2), on a serial queue that targets the queue given (D4), and never from
/// inside `retrieveToken` (D3). If you call from the handler queue, your block ends before the handler runs. If you
/// call from another thread, the handler may run before your next line.
///
/// **Failure** Dropping the last reference loses no answer: a running load keeps the service until it has ended (D6).
///
/// | what | is guarded by, and runs on |
/// | --- | --- |
/// | every decision, on a state machine | `queue`, serial and private; a valid token is read without it |
/// | the pending handlers | a lock. Decisions take them out on `queue`; while every caller has to wait, a caller adds itself without `queue` |
/// | the loader | `loaderQueue`, serial; a loader that blocks it holds up the service's loads and sign-outs |
/// | handlers | `handlerQueue`, serial, on the queue given |
/// | the event handler | a thread that all services share |
/// | the deadline | a thread that all timers of the process share. No queue can delay it. The executor of a waiting task can, if its `enqueue` blocks: that delays the deadlines of all services |
///
/// The queue that guards the state cannot be passed in: code that blocked that queue would stop every caller, and code
/// on it that called the service would wait for itself. A test that drains a queue passes one queue as `loaderQueue`
/// and `handlerQueue`.
public final class AccessTokenService: AccessTokenProviding, @unchecked Sendable {
    // Sendable: what is `var` is only touched on `queue`.
    private let queue = DispatchQueue(label: "AccessTokenService")
    private var machine: AccessTokenStateMachine
    /// The callers that wait for a load, in order: an array of handlers, and one of tasks that came by an adapter.
    private let pendingHandlers = PendingCallers()
    /// What is to be done after the present decision, when the queue has been left.
    private var effects: [() -> Void] = []

    /// The valid token, for callers that need not wait.
    @usableFromInline let snapshot: TokenSnapshot
    @usableFromInline let clock: ServiceClock

    private let loader: any AccessTokenLoader
    private let loadDeadline: TimeInterval?
    private let loaderQueue: any SerialQueue
    package let handlerQueue: any SerialQueue
    private let events: EventDelivery?

    /// Creates a service that is signed in.
    ///
    /// - Parameters:
    ///   - token: what the app stored when it last ran. Without a token, or with one that has expired, the first call
    ///     loads, and the loader is told what the load replaces (C11).
    ///   - loader: obtains new tokens.
    ///   - policy: when a token counts as expired, and how long a load may take.
    ///   - clock: wall clock and timers.
    ///   - loaderQueue: where the loader is called, one call at a time; `nil` is a global queue.
    ///   - handlerQueue: where handlers are called; serial, concurrent or the main queue. The default is a global
    ///     queue.
    ///   - onEvent: told what happens, in order, on a thread that all services share.
    public convenience init(
        token: AccessToken? = nil,
        loader: any AccessTokenLoader,
        policy: AccessTokenPolicy = AccessTokenPolicy(),
        clock: any AccessTokenClock = SystemClock(),
        loaderQueue: DispatchQueue? = nil,
        handlerQueue: DispatchQueue = .global(),
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) {
        // A queue without a target would have a thread of its own for each service that loads.
        let target = loaderQueue ?? .global(qos: .userInitiated)
        self.init(
            token: token,
            loader: loader,
            policy: policy,
            clock: clock,
            loaderOn: DispatchQueue(label: "AccessTokenService.loader", target: target),
            handlersOn: DispatchQueue(label: "AccessTokenService.handlers", target: handlerQueue),
            events: onEvent.map { EventDelivery(to: $0) }
        )
    }

    /// Takes its queues, for tests that decide what comes before what.
    package init(
        token: AccessToken? = nil,
        loader: any AccessTokenLoader,
        policy: AccessTokenPolicy,
        clock: any AccessTokenClock,
        loaderOn loaderQueue: any SerialQueue,
        handlersOn handlerQueue: any SerialQueue,
        events: EventDelivery?
    ) {
        self.loader = loader
        self.loaderQueue = loaderQueue
        self.handlerQueue = handlerQueue
        self.clock = ServiceClock(clock)
        loadDeadline = policy.corrected.loadDeadline
        self.events = events
        machine = AccessTokenStateMachine(token: token, policy: policy, reportsEvents: events != nil, at: clock.now)
        snapshot = TokenSnapshot(reportsHits: events != nil)
        // The first token is to be published, and a corrected policy is an event.
        perform {}
    }

    // MARK: Callers

    /// The token, if one counts as valid (see ``AccessTokenPolicy/minimumLoadInterval``): never loads, never waits.
    @inlinable public var currentToken: AccessToken? { snapshot.usableToken(at: clock.now) }

    /// Calls `handler` once with a valid token, or with the reason why there is none; loads if it has to (C1 to C5).
    ///
    /// Cancellation and errors are those of ``AccessTokenProviding/retrieveToken(then:)``.
    @available(*, renamed: "token()")
    @discardableResult
    public func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        if let token = freshToken {
            handlerQueue.enqueue { handler(.success(token)) }
            return .answered
        }
        return retrieveToken(.handler(handler))
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
    /// ``signIn(_:)`` (clauses O2 and O9).
    public func signIn() {
        beginSession(with: nil)
    }

    /// Ends the session, and calls `done` on the handlers' queue when the loader has forgotten it.
    ///
    /// Callers get ``AccessTokenError/signedOut`` at once (clauses O1 and O3). A load that is running is waited for, at
    /// most until its deadline; the task of a load by a `CallbackLoaderAdapter` is cancelled as well. Then the loader
    /// forgets the session, for which it has as long as for a load, and `done` is called. Store the next session's
    /// credential, where the loader finds it, only after `done`: no load of the ended session can begin then.
    ///
    /// A loader that blocks its queue for ever also keeps `done` from being called. A loader may sign out
    /// inside of its own load, before `load(replacing:then:)` returns: before the deadline of that load, `done` does not
    /// wait for it. The loader forgets the session after that load: store the next session's credential later than
    /// that. If another session has begun since, or a newer load has brought a token, nothing ends.
    @available(*, renamed: "signOut()")
    public func signOut(then done: @escaping @Sendable () -> Void) {
        let done = handlerQueue.callback(done)
        endSession { done(()) }
    }

    // MARK: Waiters

    /// The token, if a valid one is there and its successor need not be loaded yet.
    @inlinable package var freshToken: AccessToken? { snapshot.freshToken(at: clock.now) }

    /// Answers a caller, or makes it a waiter.
    package func retrieveToken(_ waiter: Waiter, isCancelled: Bool = false) -> AccessTokenRetrieval {
        let loads = LoadContext.currentLoads
        var id: Waiter.ID?
        // Others may be answered at once; and where there are events, the state machine has to tell who waits.
        if !isCancelled, loads.isEmpty, events == nil { id = pendingHandlers.appendIfOpen(waiter) }
        if id == nil { id = decide(on: waiter, isCancelled: isCancelled, inside: loads) }
        guard let id else { return .answered }
        return AccessTokenRetrieval { [weak self] in self?.cancel(id) }
    }

    private func decide(on waiter: Waiter, isCancelled: Bool, inside loads: [Load.ID]) -> Waiter.ID? {
        let now = clock.now
        var id: Waiter.ID?
        perform {
            // Single flight: the first caller starts a load (S1), and all others join it (S2).
            let count = pendingHandlers.count
            switch machine.retrieve(isCancelled: isCancelled, inside: loads, waiters: count, at: now) {
            case .answer(let result):
                send(Answer(to: waiter, result))
            case .answerAndLoad(let token, let load):
                send(Answer(to: waiter, .success(token)))
                start(load)
            case .wait:
                id = pendingHandlers.append(waiter)
            case .waitAndLoad(let load):
                id = pendingHandlers.append(waiter)
                start(load)
            }
        }
        return id
    }

    private func cancel(_ id: Waiter.ID) {
        perform {
            guard let waiter = pendingHandlers.take(id) else { return }
            // Consumed: what a handler captures is released where the handler is called.
            send(Answer(to: consume waiter, machine.cancelWaiter()))
        }
    }

    private func answerAll(_ result: LoadResult) {
        send(pendingHandlers.takeAll(toAnswer: result))
    }

    /// Publishes the token and has handlers called, as one step (D2, D9).
    private func send(_ answer: Answer) {
        publish {
            if answer.hasHandlers { handlerQueue.enqueue { answer.callHandlers() } }
        }
        afterwards { answer.resumeTasks() }
    }

    // MARK: Loads

    /// Enqueued inside the decision: others may join the load before the caller's thread goes on.
    ///
    /// The deadline is set outside of it, by a clock of the app, on the thread that comes first: the loader is asked
    /// later, and a loader's queue that is blocked does not keep the deadline from being set.
    private func start(_ load: Load) {
        let deadlineIsSet = Latch()
        let setDeadline: @Sendable () -> Void = { [self] in
            // Not under a lock, for the same reason: two threads may set it, and either is enough.
            guard !deadlineIsSet.hasFired else { return }
            let deadline = clock.schedule(after: loadDeadline) { [self] in deadlinePassed(load) }
            // It stays set after a sign-out, which waits for this load until it fires, at most.
            load.ended.whenFired { deadline.cancel() }
            deadlineIsSet.fire()
        }
        loaderQueue.enqueue { [self] in
            setDeadline()
            run(load)
        }
        afterwards(setDeadline)
    }

    private func run(_ load: Load) {
        // A newer load may have taken its place before its turn came.
        guard queue.sync(execute: { machine.loadBegins(load) }) else { return load.ended.fire() }
        // Weak: the tasks that a loader starts inherit the context, and may outlive the load.
        let context = LoadContext(of: load) { [weak self] in self?.snapshot.isCurrent(load.id) ?? false }
        let answer = OneShot(abandoned: .failure(AccessTokenError.loadAbandoned)) { [self] result in
            load.ended.fire()
            loadFinished(load, LoadAnswer(result, isReported: events != nil))
        }
        LoadContext.$current.withValue(context) {
            loader.load(replacing: load.replacing) { [weak self] result in
                if !answer(result) { self?.loadAnsweredAgain(load) }
            }
        }
    }

    private func loadAnsweredAgain(_ load: Load) {
        perform { machine.loadAnsweredAgain(load) }
    }

    private func loadFinished(_ load: Load, _ answer: LoadAnswer) {
        endLoad { waiters, now in machine.loadFinished(load, answer, waiters: waiters, at: now) }
    }

    private func deadlinePassed(_ load: Load) {
        endLoad { waiters, now in machine.deadlinePassed(load, waiters: waiters, at: now) }
    }

    /// Asks the state machine what follows for those who wait, and does that.
    private func endLoad(_ decide: (_ waiters: Int, _ now: Date) -> AccessTokenStateMachine.LoadEndAction) {
        let now = clock.now
        perform {
            switch decide(pendingHandlers.close(), now) {
            case .nothing: break
            case .answer(let result): answerAll(result)
            case .load(let load): start(load)
            case .forget(let sessionEpochs): sessionEpochs.forEach(forget)
            }
        }
    }

    // MARK: Sessions

    /// How often somebody has signed out.
    package var signOuts: Int { snapshot.signOuts }

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
            let count = pendingHandlers.close()
            switch machine.signIn(token, waiters: count, at: now) {
            case .nothing: break
            case .answer(let result): answerAll(result)
            case .load(let load): start(load)
            }
        }
        return begins
    }

    /// ``signOut(then:)``, with `done` called on whichever thread finishes.
    package func endSession(then done: @escaping @Sendable () -> Void) {
        let loads = LoadContext.currentLoads
        perform {
            guard !machine.isLateSignOut(inside: loads) else { return afterwards(done) }
            let count = pendingHandlers.close()
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
                afterwards(done)
            }
        }
    }

    private func cancel(_ loads: [Load]) {
        guard !loads.isEmpty else { return }
        // What a loader does when it is cancelled is not done on the thread of the caller, who may have a lock.
        afterwards { TaskStarter()() { for load in loads { load.cancelled.fire() } } }
    }

    /// Calls `done` when the loader has forgotten every session that has ended.
    package func whenForgotten(_ done: @escaping @Sendable () -> Void) {
        perform {
            switch machine.whenForgotten(done) {
            case .done: afterwards(done)
            case .wait: break
            }
        }
    }

    /// Enqueued inside the decision, so that the next session's load is behind it.
    private func forget(_ sessionEpoch: Int) {
        loaderQueue.enqueue { [self] in askLoaderToForget(sessionEpoch) }
    }

    private func askLoaderToForget(_ sessionEpoch: Int) {
        let deadline = clock.schedule(after: loadDeadline) { [self] in
            perform { machine.forgettingTimedOut(sessionEpoch).forEach(afterwards) }
        }
        let finish = OneShot(abandoned: ()) { [self] in
            deadline.cancel()
            perform { machine.forgettingFinished(sessionEpoch).forEach(afterwards) }
        }
        loader.signOut { finish(()) }
    }

    /// What a look at the store has found; `false` if the session has changed since that look began.
    package func looked(_ found: StoredSession?, since changes: UInt32) -> Bool {
        let now = clock.now
        var counts = false
        perform { counts = machine.looked(found, since: changes, at: now) }
        return counts
    }

    // MARK: Decisions

    /// Decides on the queue.
    ///
    /// No foreign code is called or released on the queue: a handler's deinit may call the service. Inside, work is
    /// only put on other queues, and only where it has to keep the order of the decisions, or where others wait for it;
    /// the rest follows ``afterwards(_:)``.
    private func perform(_ decision: () -> Void) {
        var effects: [() -> Void] = []
        queue.sync {
            decision()
            publish {}
            if machine.isAwaited { pendingHandlers.open() }
            swap(&effects, &self.effects)
        }
        for effect in effects { effect() }
    }

    private func publish(_ answer: () -> Void) {
        snapshot.publish(&machine, answer)
        events?.deliver(machine.takeEvents())
    }

    private func afterwards(_ effect: @escaping () -> Void) { effects.append(effect) }
}
