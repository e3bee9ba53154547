public import AccessTokenCore
public import Dispatch

/// One valid token for many callers, by callbacks: a queue, and an array of pending handlers.
///
/// Concurrent callers share one load of a new token (clauses S1 and S2).
///
/// ```swift
/// let service = AccessTokenService(loader: loader, handlerQueue: .main)
/// service.retrieveToken { result in … }
/// ```
///
/// **Concurrency** All methods can be called from any thread, also from inside a handler (D5). Handlers are called one at a
/// time, in the order of the calls (D2), on a serial queue that targets the queue given (D4), and never from inside
/// `retrieveToken` (D3). Called from the handler queue, your block finishes first; from another thread, the handler may run
/// before your next line.
///
/// **Failure** Dropping the last reference loses no answer: a running load keeps the service until it has ended (D6).
///
/// | what | is guarded by, and runs on |
/// | --- | --- |
/// | every decision; `pendingHandlers` | `queue`, serial and private; a valid token is read without it |
/// | the loader | `loaderQueue`, serial; a loader that blocks it holds up loads and sign-outs |
/// | handlers | `handlerQueue`, serial, on the queue given |
/// | the event handler | a thread that all services share |
/// | the deadline | a thread that all timers share: no queue can hold it up |
public final class AccessTokenService: AccessTokenProviding, HandlerQueueProviding, @unchecked Sendable {
    // Sendable: what is `var` is only touched on `queue`.
    private let queue = DispatchQueue(label: "AccessTokenService")
    private var machine: AccessTokenStateMachine
    private var pendingHandlers = WaiterList<PendingHandler>()
    private var runningLoads = RunningLoads()
    /// The last forgetting of a session, for which sign-outs wait.
    private var lastForgetting = PendingWork()

    /// The valid token, for callers that need not wait.
    @usableFromInline let snapshot: TokenSnapshot
    @usableFromInline let clock: ServiceClock

    private let loader: any AccessTokenLoader
    private let policy: AccessTokenPolicy
    private let loaderQueue: any SerialQueue
    package let handlerQueue: any SerialQueue
    private let events: EventDelivery?
    /// The sign-outs whose session the loader has not forgotten yet.
    package let signOuts = PendingWork()

    /// Creates a service that is signed in and has no token: the first call loads, unless ``signIn(_:)`` comes first.
    ///
    /// - Parameters:
    ///   - loader: obtains new tokens.
    ///   - policy: when a token counts as expired, and how long a load may take.
    ///   - clock: wall clock and timers.
    ///   - loaderQueue: where the loader is called, one call at a time; `nil` is a queue of the service's own.
    ///   - handlerQueue: where handlers are called; serial, concurrent or the main queue. The default is a global queue.
    ///   - onEvent: told what happens, in order, on a thread that all services share.
    public convenience init(
        loader: any AccessTokenLoader,
        policy: AccessTokenPolicy = AccessTokenPolicy(),
        clock: any AccessTokenClock = SystemClock(),
        loaderQueue: DispatchQueue? = nil,
        handlerQueue: DispatchQueue = .global(),
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) {
        self.init(
            loader: loader,
            policy: policy,
            clock: clock,
            loaderOn: DispatchQueue(label: "AccessTokenService.loader", target: loaderQueue),
            handlersOn: DispatchQueue(label: "AccessTokenService.handlers", target: handlerQueue),
            onEvent: onEvent
        )
    }

    /// Takes its queues, for tests that decide what comes before what.
    package init(
        loader: any AccessTokenLoader,
        policy: AccessTokenPolicy,
        clock: any AccessTokenClock,
        loaderOn loaderQueue: any SerialQueue,
        handlersOn handlerQueue: any SerialQueue,
        eventsOn eventQueue: @escaping EventQueue = EventThread.queue,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)?
    ) {
        self.loader = loader
        self.loaderQueue = loaderQueue
        self.handlerQueue = handlerQueue
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
        return retrieveToken(.queued(handler))
    }

    /// Says that a server rejected this token (clauses I1 to I3).
    public func invalidate(_ rejected: AccessToken) {
        decide {
            machine.invalidate(rejected)
            snapshot.publish(machine)
        }
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

    /// Ends the session, and calls `done` on the handlers' queue when the loader has forgotten it.
    ///
    /// Callers get ``AccessTokenError/signedOut`` at once (clauses O1 and O3). A load that is running is waited for, at
    /// most until its deadline; the task of a load by a `CallbackLoaderAdapter` is cancelled as well. Then the loader forgets
    /// the session, for which it has as long as for a load, and `done` is called. Store the next session's credential, where
    /// the loader finds it, only after `done`: no load of the ended session can begin then.
    ///
    /// A loader that blocks its queue for ever also keeps `done` from being called. From inside a load, before its deadline,
    /// `done` is called without waiting for that load, which would wait for itself. The loader forgets the session after that
    /// load: store the next session's credential later than that.
    @available(*, renamed: "signOut()")
    public func signOut(then done: @escaping @Sendable () -> Void) {
        endSession { [handlerQueue] in handlerQueue.enqueue(done) }
    }

    // MARK: Waiters

    /// The token, if a valid one is there and its successor need not be loaded yet.
    @inlinable package var freshToken: AccessToken? { snapshot.freshToken(at: clock.now) }

    /// Answers a caller, or makes it a waiter: append, and load if it is the first.
    package func retrieveToken(_ handler: PendingHandler, isCancelled: Bool = false) -> AccessTokenRetrieval {
        let now = clock.now
        let caller = CallerContext(isCancelled: isCancelled)
        let (action, waiter) = decide { () -> (AccessTokenStateMachine.CallerAction, WaiterID?) in
            // Single flight: the first caller starts a load (S1), and all others join it (S2).
            let action = machine.retrieve(by: caller, waiters: pendingHandlers.count, at: now)
            if action.start != nil { snapshot.publish(machine) }
            guard let answer = action.answer else { return (action, pendingHandlers.append(handler)) }
            handler.enqueue(answer, on: handlerQueue)
            return (action, nil)
        }
        if let answer = action.answer { handler.callDirect(answer) }
        if let start = action.start { startLoad(start) }
        guard let waiter else { return .answered }
        return AccessTokenRetrieval { [weak self] in self?.cancel(waiter) }
    }

    private func cancel(_ waiter: WaiterID) {
        let handler = decide { () -> PendingHandler? in
            guard let handler = pendingHandlers.take(waiter) else { return nil }
            machine.waiterCancelled()
            handler.enqueue(.failure(cancellation), on: handlerQueue)
            return handler
        }
        handler?.callDirect(.failure(cancellation))
    }

    // MARK: Loads

    private func startLoad(_ start: LoadStart) {
        let deadline = clock.schedule(after: policy.loadDeadline) { [self] in deadlinePassed(start.load) }
        loaderQueue.enqueue { [self] in runLoad(start, deadline) }
    }

    /// - Parameter deadline: goes on when the session ends during the load, since a sign-out waits no longer than that.
    private func runLoad(_ start: LoadStart, _ deadline: AccessTokenTimer) {
        let load = start.load
        let call = Cancellation()
        let isCurrent = decide {
            if machine.isCurrent(load) { runningLoads.begin(load, call) }
            return machine.isCurrent(load)
        }
        guard isCurrent else { return deadline.cancel() }
        // Weak: a task that the loader starts has the context for as long as it runs.
        let context = LoadContext(loads: start.enclosing, priority: start.priority, cancellation: call) {
            [weak self] in self?.snapshot.isCurrent(load) ?? false
        }
        let answer = OneShot(abandoned: .failure(AccessTokenError.loadAbandoned)) { [self] result in
            deadline.cancel()
            context.end(())
            loadFinished(load, result)
        }
        LoadContext.$current.withValue(context) {
            loader.load(replacing: start.replacing) { [weak self] result in
                if !answer(result) { self?.decide { self?.machine.loadAnsweredAgain(load) } }
            }
        }
    }

    private func loadFinished(_ load: LoadID, _ result: LoadResult) {
        let now = clock.now
        let error = events == nil ? nil : LoggedError(result)
        let (answered, waiting) = decide {
            let waiting = runningLoads.end(load)
            // The late answer of an ended session is dropped: it caches nothing and answers nobody (O1).
            let answer = machine.loadFinished(load, result, error: error, waiters: pendingHandlers.count, at: now)
            return (answerAll(answer), waiting)
        }
        answered?.callDirect()
        for signOut in waiting { signOut() }
    }

    private func deadlinePassed(_ load: LoadID) {
        let now = clock.now
        let (answered, waiting) = decide {
            let waiting = runningLoads.end(load)
            return (answerAll(machine.deadlinePassed(load, waiters: pendingHandlers.count, at: now)), waiting)
        }
        answered?.callDirect()
        for signOut in waiting { signOut() }
    }

    // MARK: Sessions

    private func beginSession(with token: AccessToken?) {
        let now = clock.now
        let (answered, start) = decide {
            let action = machine.signIn(token, waiters: pendingHandlers.count, at: now)
            return (answerAll(action.answer), action.start)
        }
        answered?.callDirect()
        if let start { startLoad(start) }
    }

    /// ``signOut(then:)``, with `done` called on whichever thread finishes.
    package func endSession(then done: @escaping @Sendable () -> Void) {
        let enclosing = LoadContext.currentLoads
        let (answered, isInsideLoad, calls, forgetting) = decide {
            // The loader's own sign-out would have the session forgotten, and so sign out, for ever: it joins.
            let joins = machine.isSignedOut && lastForgetting.isUnderWay
            let answered = answerAll(machine.signOut(waiters: pendingHandlers.count))
            if !joins {
                let forgetting = PendingWork()
                lastForgetting = forgetting
                for work in [forgetting, signOuts] { work.begin() }
                runningLoads.whenOver(before: machine.sessionEpoch) { [self] in
                    loaderQueue.enqueue { self.forgetSession(forgetting) }
                }
            }
            return (answered, runningLoads.contains(oneOf: enclosing), runningLoads.calls, lastForgetting)
        }
        answered?.callDirect()
        for call in calls { call.cancel() }
        if isInsideLoad { done() } else { forgetting.whenOver(done) }
    }

    private func forgetSession(_ forgetting: PendingWork) {
        let finish = OneShot(abandoned: ()) { [signOuts] in
            for work in [signOuts, forgetting] { work.end() }
        }
        let deadline = clock.schedule(after: policy.loadDeadline) { [self, weak finish] in
            if finish?(()) == true { decide { machine.signOutTimedOut() } }
        }
        loader.signOut {
            deadline.cancel()
            finish(())
        }
    }

    // MARK: Decisions

    /// Runs a decision on the queue.
    ///
    /// Nothing of others is called or released in it: a handler's deinit may call the service. What has to keep the order of
    /// the decisions is enqueued in it, handlers above all.
    @discardableResult
    private func decide<Action>(_ decision: () -> Action) -> Action {
        // The generic form of `sync`, which would return the action, doubles the cost of a waiter.
        unsafe withUnsafeTemporaryAllocation(of: Action.self, capacity: 1) { action in
            queue.sync {
                unsafe action.initializeElement(at: 0, to: decision())
                events?.deliver(machine.takeEvents())
            }
            return unsafe action.moveElement(from: 0)
        }
    }

    /// Take all, then call: publishes the token and enqueues the answers as one step, inside of a decision.
    ///
    /// - Parameter result: the answer to all waiters; `nil` if they go on to wait.
    private func answerAll(_ result: LoadResult?) -> Answered? {
        let answered = result.map { Answered(handlers: pendingHandlers.takeAll(), result: $0) }
        snapshot.publish(machine) {
            guard let answered, answered.handlers.count > 0 else { return }
            handlerQueue.enqueue { answered.callQueued() }
        }
        return answered
    }
}
