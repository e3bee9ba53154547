public import AccessTokenCore
public import AccessTokenSynchronization
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
/// **Concurrency** All methods can be called from any thread, also from inside a handler (D5). Handlers are called one
/// at a time, in the order of the calls (D2), on a serial queue that targets the queue given (D4), and never from
/// inside `retrieveToken` (D3). Called from the handler queue, your block finishes first; from another thread, the
/// handler may run before your next line.
///
/// **Failure** Dropping the last reference loses no answer: a running load keeps the service until it has ended (D6).
///
/// | what | is guarded by, and runs on |
/// | --- | --- |
/// | every decision, on a state machine that has the pending handlers | `queue`, serial and private; a valid token is read without it |
/// | the loader | `loaderQueue`, serial; a loader that blocks it holds up the service's loads and sign-outs |
/// | handlers | `handlerQueue`, serial, on the queue given |
/// | the event handler | a thread that all services share |
/// | the deadline | a thread that all timers share: no queue can hold it up |
public final class AccessTokenService: AccessTokenProviding, @unchecked Sendable {
    // Sendable: what is `var` is only touched on `queue`.
    private let queue = DispatchQueue(label: "AccessTokenService")
    private var machine: AccessTokenStateMachine

    /// The valid token, for callers that need not wait.
    @usableFromInline let snapshot: TokenSnapshot
    @usableFromInline let clock: ServiceClock

    private let loader: any AccessTokenLoader
    private let policy: AccessTokenPolicy
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
        self.policy = policy.corrected
        self.events = events
        machine = AccessTokenStateMachine(token: token, policy: policy, reportsEvents: events != nil, at: clock.now)
        snapshot = TokenSnapshot(reportsHits: events != nil)
        // The first token is to be published, and a corrected policy is an event.
        perform { AccessTokenStateMachine.Action() }
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
    /// It is for a login. What an app has stored belongs into the initializer, before anybody can ask.
    ///
    /// Callers that wait for a load of the present session are answered with the token, or wait on if it has expired.
    /// The new session's first load starts when the present session's load has ended or is past its deadline: both may
    /// be of one user, and two loads would send the same refresh token (O9). Sign out first, and no load of the new
    /// session waits.
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
    /// A loader that blocks its queue for ever also keeps `done` from being called. From inside a load, before its
    /// deadline, `done` is called without waiting for that load, which would wait for itself. The loader forgets the
    /// session after that load: store the next session's credential later than that.
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
        let (caller, now) = (CallerContext(isCancelled: isCancelled), clock.now)
        // Single flight: the first caller starts a load (S1), and all others join it (S2).
        let action = perform { machine.retrieve(waiter, by: caller, at: now) }
        guard case .wait(let waiter) = action.callers else { return .answered }
        return AccessTokenRetrieval { [weak self] in self?.cancel(waiter) }
    }

    private func cancel(_ waiter: Waiter.ID) {
        perform { machine.cancel(waiter) }
    }

    // MARK: Loads

    private func start(_ load: Load) {
        let deadline = clock.schedule(after: policy.loadDeadline) { [self] in deadlinePassed(load) }
        loaderQueue.enqueue { [self] in run(load, deadline) }
    }

    /// - Parameter deadline: keeps running after the session has ended: others wait for this load until then.
    private func run(_ load: Load, _ deadline: AccessTokenTimer) {
        // A load that was overtaken is not begun: the loader would be called after the load's successor.
        guard queue.sync(execute: { machine.loadBegins(load) }) else { return deadline.cancel() }
        // Weak: a task that the loader starts has the context for as long as it runs.
        let context = LoadContext(of: load) { [weak self] in self?.snapshot.isCurrent(load.id) ?? false }
        let answer = OneShot(abandoned: .failure(AccessTokenError.loadAbandoned)) { [self] result in
            deadline.cancel()
            context.ended.fire()
            loadFinished(load, result)
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

    private func loadFinished(_ load: Load, _ result: LoadResult) {
        let now = clock.now
        // The code of an error may do anything, and so it is not run on the queue.
        let error = events == nil ? nil : LoggedError(result)
        perform { machine.loadFinished(load, result, error: error, at: now) }
    }

    private func deadlinePassed(_ load: Load) {
        let now = clock.now
        perform { machine.deadlinePassed(load, at: now) }
    }

    // MARK: Sessions

    private func beginSession(with token: AccessToken?) {
        let now = clock.now
        perform { machine.signIn(token, at: now) }
    }

    /// ``signOut(then:)``, with `done` called on whichever thread finishes.
    package func endSession(then done: @escaping @Sendable () -> Void) {
        let enclosing = LoadContext.currentLoads
        perform { machine.signOut(inside: enclosing, then: done) }
    }

    /// Calls `done` when the loader has forgotten every session that has ended.
    package func whenForgotten(_ done: @escaping @Sendable () -> Void) {
        perform { machine.whenForgotten(done) }
    }

    private func forget(_ session: Forgetting.ID) {
        let deadline = clock.schedule(after: policy.loadDeadline) { [self] in
            perform { machine.forgettingTimedOut(session) }
        }
        let finish = OneShot(abandoned: ()) { [self] in
            deadline.cancel()
            perform { machine.forgettingFinished(session) }
        }
        loader.signOut { finish(()) }
    }

    // MARK: Decisions

    /// Decides on the queue, and carries out what was decided.
    ///
    /// Nothing of others is called or released on the queue: a handler's deinit may call the service. Only what has to
    /// keep the order of the decisions is enqueued there.
    @discardableResult
    private func perform(_ decision: () -> AccessTokenStateMachine.Action) -> AccessTokenStateMachine.Action {
        var action = AccessTokenStateMachine.Action()
        // The generic form of `sync`, which would return the action, doubles the cost of a waiter.
        queue.sync {
            action = decision()
            snapshot.publish(&machine) {
                guard case .answer(let answer) = action.callers, answer.hasHandlers else { return }
                handlerQueue.enqueue { answer.callHandlers() }
            }
            for case .forget(let session) in action.loader {
                loaderQueue.enqueue { [self] in forget(session) }
            }
            events?.deliver(machine.takeEvents())
        }
        if case .answer(let answer) = action.callers { answer.resumeTasks() }
        for call in action.loader {
            switch call {
            case .load(let load): start(load)
            case .cancel(let load): load.cancelled.fire()
            case .forget: break
            }
        }
        for done in action.signOutsDone { done() }
        return action
    }
}
