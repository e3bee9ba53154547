public import AccessTokenCore
public import Dispatch
import Foundation

/// One valid token for many callers, by callbacks: a queue, and an array of pending handlers.
///
/// Concurrent callers share one load of a new token (clauses S1 and S2).
///
/// ```swift
/// let service = AccessTokenService(loader: loader, handlerQueue: .main)
/// service.retrieveToken { result in … }
/// ```
///
/// **Concurrency** All methods can be called from any thread, also from inside a handler (D5). Handlers are called
/// one at a time, in the order of the calls (D2), on a serial queue that targets the queue given (D4): with `.main`, on
/// the main thread; with a serial queue, excluding other work on it; with a concurrent queue, beside it. They are never
/// called from inside `retrieveToken` (D3); code on the serial queue given has returned from it before they are, while
/// on another thread they may be called before the caller's next line.
///
/// **Failure** Dropping the last reference loses no answer: a running load keeps the service until it has ended (D6).
///
/// What guards what:
///
/// | what | is guarded by, and runs on |
/// | --- | --- |
/// | every decision; `pendingHandlers` | the lock `state`, at the moment of the call |
/// | the loader, and which loads it is running | `loaderQueue`, serial and private; a loader that blocks it holds up loads and sign-outs |
/// | handlers | `handlerQueue`, serial, on the queue given |
/// | the event handler | a thread that all services share |
/// | the deadline | a timer of the clock: no queue can hold it up |
///
/// The lock, not a queue, guards the decisions: a queue entered by `async` lets a later caller overtake an earlier one, and
/// `invalidate` wait up to 37 ms among busy callers. A queue entered by `sync` is a slower lock.
public final class AccessTokenService: AccessTokenProviding {
    /// What a decision looks at and changes; not copyable, so that no decision is made on a copy.
    private struct State: ~Copyable, Sendable {
        var machine: AccessTokenStateMachine
        var pendingHandlers = WaiterList<PendingHandler>()
    }

    private let id = ServiceID()
    private let loader: any AccessTokenLoader
    private let loadDeadline: TimeInterval?
    private let onEvent: (@Sendable (AccessTokenEvent) -> Void)?

    private let state: AdaptiveLocked<State>
    @usableFromInline
    let snapshot: TokenSnapshot
    @usableFromInline
    let clock: ServiceClock

    private let loaderQueue: any SerialQueue
    private let handlerQueue: any SerialQueue
    private let eventQueue: EventQueue

    // Safe: only touched on `loaderQueue`.
    private nonisolated(unsafe) var runningLoads = RunningLoads()
    /// The sign-outs whose session the loader has not forgotten yet.
    package let signOuts = PendingWork()

    /// Creates a service that is signed in and has no token: the first call loads, unless ``signIn(_:)`` comes first.
    ///
    /// - Parameters:
    ///   - loader: obtains new tokens.
    ///   - policy: when a token counts as expired, and how long a load may take.
    ///   - clock: wall clock and timers.
    ///   - handlerQueue: where handlers are called; serial, concurrent or the main queue. The default is a global queue.
    ///   - onEvent: told what happens, in order, on a thread that all services share.
    public convenience init(
        loader: any AccessTokenLoader,
        policy: AccessTokenPolicy = AccessTokenPolicy(),
        clock: any AccessTokenClock = SystemDispatchClock(),
        handlerQueue: DispatchQueue = .global(),
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) {
        self.init(
            loader: loader,
            policy: policy,
            clock: clock,
            loaderOn: DispatchQueue(label: "AccessTokenService.loader"),
            handlersOn: DispatchQueue(label: "AccessTokenService.handlers", target: handlerQueue),
            eventsOn: EventThread.queue,
            onEvent: onEvent
        )
    }

    /// Takes its queues: whoever holds them decides what comes before what.
    // The public initialiser would have a copy of it.
    @inline(never)
    package init(
        loader: any AccessTokenLoader,
        policy: AccessTokenPolicy,
        clock: any AccessTokenClock,
        loaderOn loaderQueue: any SerialQueue,
        handlersOn handlerQueue: any SerialQueue,
        eventsOn eventQueue: @escaping EventQueue,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)?
    ) {
        _ = EnclosingLoads.areReadFromQueue
        self.loader = loader
        self.loadDeadline = policy.corrected.loadDeadline
        self.clock = ServiceClock(clock, isSystem: clock is SystemDispatchClock)
        self.loaderQueue = loaderQueue
        self.handlerQueue = handlerQueue
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
    @inlinable public var currentToken: AccessToken? {
        snapshot.usableToken(at: clock.now)
    }

    /// Calls `handler` once with a valid token, or with the reason why there is none; loads if it has to (C1 to C5).
    ///
    /// **Cancellation** ``AccessTokenRetrieval/cancel()`` answers this caller with `CancellationError` (clause X1) and
    /// leaves the load alone (X2).
    ///
    /// **Failure** A load's error, unchanged (F1); ``AccessTokenError``.
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
        decide { state in
            state.machine.invalidate(rejected)
            snapshot.publish(state.machine.publishedToken)
        }
    }

    /// Begins a session with this token, in place of the present session if there is one (clause O2).
    ///
    /// Callers that are waiting for a load of the present session are answered with the token. If it has expired, they go on
    /// to wait, for a load of the new session.
    public func signIn(_ token: AccessToken) {
        beginSession(with: token)
    }

    /// Begins a session whose first token the loader has to load: it has the session's credential already.
    ///
    /// Callers that are waiting for a load of the present session go on to wait, for a load of the new one (clause O2).
    public func signIn() {
        beginSession(with: nil)
    }

    private func beginSession(with token: AccessToken?) {
        let now = clock.now
        var start: LoadStart?
        endFlight { state in
            switch state.machine.signIn(token, waiters: state.pendingHandlers.count, at: now) {
            case .none: return nil
            case .answerWaiters(let answer): return answer
            case .load(let load):
                start = load
                return nil
            }
        }
        if let start { startLoad(start) }
    }

    /// Ends the session, and calls `done` on the handlers' queue when the loader has forgotten it.
    ///
    /// Callers get ``AccessTokenError/signedOut`` at once (clauses O1 and O3). A load that is running is waited for, at
    /// most until its deadline; the task of a load by a `CallbackLoaderAdapter` is cancelled as well. Then the loader forgets
    /// the session; then `done` is called. So no load of the ended session is running then or will begin, unless it is past
    /// its deadline. Wait for `done` before the next session's credential is stored where the loader finds it.
    ///
    /// A loader that blocks its queue for ever holds up the sign-out as well: then `done` is never called.
    ///
    /// From inside a load, `done` is called without waiting for it, since that load would wait for itself.
    @available(*, renamed: "signOut()")
    public func signOut(then done: @escaping @Sendable () -> Void) {
        endSession { [handlerQueue] in handlerQueue.enqueue(done) }
    }

    /// ``signOut(then:)``, with `done` called wherever that is known.
    package func endSession(then done: @escaping @Sendable () -> Void) {
        let enclosing = EnclosingLoads.current
        endFlight { state in
            let end = state.machine.signOut(waiters: state.pendingHandlers.count)
            let epoch = state.machine.sessionEpoch
            signOuts.begin()
            loaderQueue.enqueue { [self] in forgetSession(before: epoch, inside: enclosing, then: done) }
            return end
        }
    }

    // MARK: Waiters

    /// The token, if a valid one is there and its successor need not be loaded yet.
    @inlinable package var freshToken: AccessToken? {
        snapshot.freshToken(at: clock.now)
    }

    /// Makes a caller a waiter, or answers it.
    package func retrieveToken(_ handler: PendingHandler, isCancelled: Bool = false) -> AccessTokenRetrieval {
        let now = clock.now
        let caller = CallerContext(isCancelled: isCancelled, loads: EnclosingLoads.current)
        var waiter: WaiterID?
        var answer: LoadResult?
        var start: LoadStart?
        decide { state in
            // Nobody's priority is raised: a queue is raised by the blocks that wait in it.
            switch state.machine.retrieve(by: caller, waiters: state.pendingHandlers.count, at: now) {
            case .answer(let result): answer = result
            case .answerAndLoad(let token, let load): (answer, start) = (.success(token), load)
            case .wait, .waitAndRaise: break
            case .waitAndLoad(let load): start = load
            }
            if start != nil { snapshot.publish(state.machine.publishedToken) }
            if let answer {
                enqueue(handler, answer)
            } else {
                waiter = state.pendingHandlers.append(handler)
            }
        }
        if let answer { handler.callDirect(answer) }
        if let start { startLoad(start) }
        return waiter.map { self.retrieval(of: $0) } ?? .answered
    }

    private func retrieval(of waiter: WaiterID) -> AccessTokenRetrieval {
        AccessTokenRetrieval { [self] in cancel(waiter) }
    }

    private func cancel(_ waiter: WaiterID) {
        let handler = decide { state in
            guard let handler = state.pendingHandlers.take(waiter) else { return PendingHandler?.none }
            state.machine.waiterCancelled()
            enqueue(handler, .failure(cancellation))
            return handler
        }
        handler?.callDirect(.failure(cancellation))
    }

    private func enqueue(_ handler: PendingHandler, _ result: LoadResult) {
        if case .queued(let handler) = handler { handlerQueue.enqueue { handler(result) } }
    }

    // MARK: Decisions

    /// Lets the state machine decide, under the lock.
    ///
    /// Queues keep the order in which they are given work, so what has to keep the order of the decisions is given to its
    /// queue under the lock: handlers above all. The waiters themselves leave the lock: with one may go the last reference
    /// to a handler, and what that holds may call the service on its way out.
    @discardableResult
    private func decide<Action>(_ input: (inout State) -> Action) -> Action {
        let (action, hasEvents) = state.withLock { state in
            let action = input(&state)
            return (action, state.machine.startsDelivery())
        }
        if hasEvents { startDelivery() }
        return action
    }

    /// Decides what may be the end of the current load, and answers those who waited for it.
    private func endFlight(_ input: (inout State) -> LoadResult?) {
        let answered = decide { state in
            let result = input(&state)
            return answerHandlers(&state, result)
        }
        if let answered { answered.handlers.forEach { $0.callDirect(answered.result) } }
    }

    /// Publishes the token and answers the handlers in one step; returns all of them, of which the direct ones are still to
    /// be called.
    // Four inputs end a load: each would have a copy of it.
    @inline(never)
    private func answerHandlers(
        _ state: inout State,
        _ result: LoadResult?
    ) -> (handlers: WaiterList<PendingHandler>, result: LoadResult)? {
        let answer = result.map { (handlers: state.pendingHandlers.takeAll(), result: $0) }
        snapshot.publish(state.machine.publishedToken) {
            guard let answer, answer.handlers.count > 0 else { return }
            handlerQueue.enqueue { answer.handlers.forEach { $0.callQueued(answer.result) } }
        }
        return answer
    }

    // Every input may have events: each would have a copy of it.
    @inline(never)
    private func startDelivery() {
        eventQueue { self.deliverEvents() }
    }

    private func deliverEvents() {
        guard let events = nextEvents() else { return }
        deliver(events)
    }

    /// Lets other services have their turn after each batch.
    private func deliver(_ events: [AccessTokenEvent]) {
        for event in events { onEvent?(event) }
        if let more = nextEvents() { eventQueue { self.deliver(more) } }
    }

    private func nextEvents() -> [AccessTokenEvent]? {
        state.withLock { $0.machine.nextEvents() }
    }

    // MARK: Loads

    /// The timer of a load, which may end before the timer is there.
    private typealias LoadDeadline = LateBound<AccessTokenTimer>

    private func startLoad(_ start: LoadStart) {
        let deadline = LoadDeadline { $0.cancel() }
        loaderQueue.enqueue { [self] in runLoad(start, deadline) }
        // After the load has been started, since a timer takes as long to make as the way to the loader.
        if let loadDeadline {
            deadline.bind(clock.schedule(after: loadDeadline) { [self] in deadlinePassed(start.load) })
        }
    }

    /// - Parameter deadline: goes on when the session ends during the load, since a sign-out waits no longer than that.
    private func runLoad(_ start: LoadStart, _ deadline: LoadDeadline) {
        dispatchPrecondition(condition: .onQueue(loaderQueue.dispatchQueue))
        let flight = start.load
        guard state.withLock({ $0.machine.isCurrent(flight) }) else {
            deadline.cancel()
            return
        }
        unsafe runningLoads.begin(flight)
        let answer = OneShot(abandoned: .failure(AccessTokenError.loadAbandoned)) { [self] result in
            deadline.cancel()
            loadFinished(flight, result)
        }
        EnclosingLoads.with(start.enclosing, on: loaderQueue.dispatchQueue) {
            loader.load(replacing: start.replacing) { [weak self] result in
                if !answer(result) { self?.decide { $0.machine.loadAnsweredAgain(flight) } }
            }
        }
    }

    private func loadFinished(_ flight: LoadID, _ result: LoadResult) {
        // Before the answers: who is answered, and then signs out, finds that the load is over.
        loaderQueue.enqueue { [self] in loadIsOver(flight) }
        let now = clock.now
        let error = onEvent == nil ? nil : LoggedError(result)
        endFlight { $0.machine.loadFinished(flight, result, error: error, waiters: $0.pendingHandlers.count, at: now) }
    }

    private func deadlinePassed(_ flight: LoadID) {
        let now = clock.now
        endFlight { $0.machine.deadlinePassed(flight, waiters: $0.pendingHandlers.count, at: now) }
        // After the decision: a load that begins later than this sees that it is not the current one any more.
        loaderQueue.enqueue { [self] in loadIsOver(flight) }
    }

    private func loadIsOver(_ flight: LoadID) {
        dispatchPrecondition(condition: .onQueue(loaderQueue.dispatchQueue))
        for action in unsafe runningLoads.end(flight) { action() }
    }

    private func forgetSession(
        before epoch: Int,
        inside enclosing: [LoadID],
        then done: @escaping @Sendable () -> Void
    ) {
        dispatchPrecondition(condition: .onQueue(loaderQueue.dispatchQueue))
        // Here, where no load of the next session has begun.
        (loader as? any CancellableLoader)?.cancelLoads(of: id)
        let isInsideLoad = unsafe runningLoads.contains(oneOf: enclosing)
        if isInsideLoad { done() }
        let forget: RunningLoads.Action = { [loader, signOuts] in
            let finish = OneShot(abandoned: ()) {
                signOuts.end()
                if !isInsideLoad { done() }
            }
            loader.signOut { finish(()) }
        }
        if unsafe !runningLoads.wait(forSessionsBefore: epoch, then: forget) { forget() }
    }
}
