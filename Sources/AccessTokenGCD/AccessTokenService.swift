public import AccessTokenCore
public import Dispatch
import Foundation

/// One valid token for many callers, by callbacks: a queue, and an array of pending handlers.
///
/// Concurrent callers share one load of a new token (clauses S1 and S2). Every decision is the state machine's, made
/// under a lock at the moment of the call; what is to be done about it is done on queues, in the order of the decisions.
///
/// ```swift
/// let service = AccessTokenService(loader: loader, queue: .main)
/// service.retrieveToken { result in … }
/// ```
///
/// **Concurrency** All methods can be called from any thread, also from inside a handler (D5). Handlers are called
/// one at a time, in the order of the calls (D2), on a serial queue that targets the queue given (D4): with `.main`, on
/// the main thread; with a serial queue, excluding other work on it; with a concurrent queue, beside it. They are never
/// called from inside `retrieveToken` (D3); code on the serial queue given has returned from it before they are, while
/// on another thread they may be called before the caller's next line. The loader and the event handler are called on
/// private queues, which a handler that blocks does not hold up.
///
/// **Failure** Dropping the last reference loses no answer: a running load keeps the service until it has ended (D6).
public final class AccessTokenService: AccessTokenProviding {
    private let loader: any AccessTokenLoader
    private let loadDeadline: TimeInterval?
    private let onEvent: (@Sendable (AccessTokenEvent) -> Void)?

    private let machine: Locked<AccessTokenStateMachine<AccessTokenHandler>>
    @usableFromInline
    let snapshot = TokenSnapshot()
    @usableFromInline
    let clock: ServiceClock
    private let deadline = Locked<AccessTokenTimer?>(nil)

    /// Carries out effects, in the order of the decisions.
    private let engine: any SerialQueue
    /// Calls the loader, which may block.
    private let loading: any SerialQueue
    /// Calls handlers, in the order of the decisions.
    private let delivery: any SerialQueue

    /// Creates a service that is signed in and has no token: the first call loads, unless ``signIn(_:)`` comes first.
    ///
    /// - Parameters:
    ///   - loader: obtains new tokens.
    ///   - policy: when a token counts as expired, and how long a load may take.
    ///   - clock: wall clock and timers.
    ///   - queue: where handlers are called; serial, concurrent or the main queue. The default is a global queue.
    ///   - onEvent: told what happens, on a private serial queue.
    public convenience init(
        loader: any AccessTokenLoader,
        policy: AccessTokenPolicy = AccessTokenPolicy(),
        clock: any AccessTokenClock = SystemDispatchClock(),
        queue: DispatchQueue = .global(),
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) {
        self.init(
            loader: loader,
            policy: policy,
            clock: clock,
            engine: DispatchQueue(label: "AccessTokenService.engine"),
            loading: DispatchQueue(label: "AccessTokenService.loading"),
            delivery: DispatchQueue(label: "AccessTokenService.delivery", target: queue),
            onEvent: onEvent
        )
    }

    /// Takes its queues: whoever holds them decides what comes before what.
    package init(
        loader: any AccessTokenLoader,
        policy: AccessTokenPolicy,
        clock: any AccessTokenClock,
        engine: any SerialQueue,
        loading: any SerialQueue,
        delivery: any SerialQueue,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)?
    ) {
        self.loader = loader
        self.loadDeadline = policy.corrected.loadDeadline
        self.clock = ServiceClock(clock, isSystem: clock is SystemDispatchClock)
        self.engine = engine
        self.loading = loading
        self.delivery = delivery
        self.onEvent = onEvent
        machine = Locked(AccessTokenStateMachine(policy: policy, reportsEvents: onEvent != nil))
        for correction in policy.corrections {
            engine.enqueue { onEvent?(.policyCorrected(correction)) }
        }
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
            delivery.enqueue { handler(.success(token)) }
            return .answered
        }
        let loads = LoaderCall.loads
        return retrieveToken(by: CallerContext(ownLoad: loads.flight(of: self), loads: loads), then: handler)
    }

    /// Says that a server rejected this token (clauses I1 to I3).
    public func invalidate(_ rejected: AccessToken) {
        decide { $0.invalidate(rejected) }
    }

    /// Begins a session with this token, in place of the present session if there is one (clause O2).
    public func signIn(_ token: AccessToken) {
        let now = clock.now
        decide { $0.signIn(token, at: now) }
    }

    /// Ends the session (clauses O1 and O3), and calls `done` when the loader has forgotten it.
    ///
    /// Wait for `done` before the next session's credential is stored where the loader finds it.
    public func signOut(then done: @escaping @Sendable () -> Void) {
        decide { machine in
            loading.enqueue { self.forgetSession(then: done) }
            return machine.signOut()
        }
    }

    // MARK: Waiters

    /// The token, if a valid one is there and its successor need not be loaded yet.
    @inlinable package var freshToken: AccessToken? {
        snapshot.freshToken(at: clock.now)
    }

    package func retrieveToken(
        by caller: CallerContext,
        then handler: @escaping AccessTokenHandler
    ) -> AccessTokenRetrieval {
        let now = clock.now
        let ticket =
            machine.withLock { $0.join(handler, by: caller) } ?? decide { $0.retrieve(handler, by: caller, at: now) }
        guard let ticket else { return .answered }
        return AccessTokenRetrieval { [self] in decide { $0.cancel(ticket) } }
    }

    // MARK: Decisions and effects

    /// Lets the state machine decide, and has the action carried out.
    ///
    /// Queues keep the order in which they are given work, so giving it to them under the lock is all it takes to act in
    /// the order of the decisions. The action itself leaves the lock: with it may go the last reference to a handler,
    /// and what that holds may call the service on its way out.
    @discardableResult
    private func decide(
        _ input: (inout AccessTokenStateMachine<AccessTokenHandler>) -> Action<AccessTokenHandler>
    ) -> Int? {
        let action = machine.withLock { machine in
            let action = input(&machine)
            if action.changesToken {
                snapshot.publish(machine.publishedToken) { answerHandlers(action) }
            } else {
                answerHandlers(action)
            }
            if !action.effects.isEmpty {
                engine.enqueue { self.carryOut(action.effects) }
            }
            return action
        }
        return action.ticket
    }

    private func answerHandlers(_ action: Action<AccessTokenHandler>) {
        guard let answer = action.answer else { return }
        delivery.enqueue { answer.waiters.forEach { handler in handler(answer.result) } }
    }

    private func carryOut(_ effects: [Effect]) {
        for effect in effects {
            switch effect {
            case .startLoad(let flight, let old, let caller): startLoad(flight, replacing: old, for: caller)
            // A queue is raised by the blocks that wait in it.
            case .raisePriority: break
            case .endFlight: setDeadline(nil)
            case .report(let event): onEvent?(event)
            }
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
        let loads = caller.loads + [LoadID(of: self, flight)]
        loading.enqueue { [self] in
            LoaderCall.inside(loads, on: loading.dispatchQueue) { load(flight, replacing: old) }
        }
    }

    private func load(_ flight: FlightID, replacing old: AccessToken?) {
        guard machine.withLock({ $0.owns(flight) }) else { return }
        let answer = OneShot(abandoned: .failure(AccessTokenError.loadAbandoned)) { [self] result in
            let now = clock.now
            decide { $0.loadFinished(flight, result, at: now) }
        }
        loader.load(replacing: old) { [weak self] result in
            if !answer(result) { self?.decide { $0.loadAnsweredAgain(flight) } }
        }
    }

    private func forgetSession(then done: @escaping @Sendable () -> Void) {
        let finish = OneShot(abandoned: ()) { [delivery] in delivery.enqueue(done) }
        loader.signOut { finish(()) }
    }

    private func setDeadline(_ timer: AccessTokenTimer?) {
        let former = deadline.withLock { deadline in
            defer { deadline = timer }
            return deadline
        }
        former?.cancel()
    }
}
