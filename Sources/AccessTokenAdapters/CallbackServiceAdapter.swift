public import AccessTokenAsync
import AccessTokenCore
public import AccessTokenGCD
public import Dispatch

/// An async service, as callback code sees it.
///
/// Calls count at once with the services of this package, and with all that have callbacks themselves: the adapter calls
/// these. A service of others learns of a call when a task reaches it, in the order of the calls. So wait for `done` of
/// `signOut(then:)` before you sign in at such a service itself. Answers of such a service may overtake one another.
///
/// ```swift
/// let provider: any AccessTokenProviding = CallbackServiceAdapter(of: asyncService, handlerQueue: .main)
/// provider.retrieveToken { result in … }
/// ```
///
/// **Concurrency** Handlers are called as `AccessTokenService` calls them: one at a time, in the order of the answers,
/// never before the call has returned, on a serial queue that targets the queue given (D2 to D4).
///
/// **Cancellation** ``AccessTokenRetrieval/cancel()`` answers at once with `CancellationError` and cancels the task
/// that waits for the token, where there is one (X1).
public final class CallbackServiceAdapter: AccessTokenProviding {
    private let base: any AsyncAccessTokenProviding
    private let service: AsyncAccessTokenService?
    /// The base as callback code sees it, if it is known there: then no task comes between.
    private let callbacks: (any AccessTokenProviding)?
    private let handlerQueue: any SerialQueue
    /// Starts the tasks that call a service of others, one after the other.
    private let order: DispatchQueueExecutor

    /// Presents an async service as a callback one.
    ///
    /// - Parameters:
    ///   - base: the service.
    ///   - handlerQueue: where handlers are called; serial, concurrent or the main queue. The default is a global queue.
    public convenience init(of base: any AsyncAccessTokenProviding, handlerQueue: DispatchQueue = .global()) {
        self.init(of: base, handlersOn: DispatchQueue(label: "CallbackServiceAdapter.handlers", target: handlerQueue))
    }

    /// Takes its queues, of which `order` must be serial: whoever holds them decides when a service of others is called,
    /// and when handlers are.
    package init(
        of base: any AsyncAccessTokenProviding,
        handlersOn handlerQueue: any SerialQueue,
        order: DispatchQueue = DispatchQueue(label: "CallbackServiceAdapter.order")
    ) {
        self.base = base
        self.order = DispatchQueueExecutor(queue: order)
        service = base as? AsyncAccessTokenService
        callbacks = (base as? AsyncServiceAdapter)?.base ?? base as? any AccessTokenProviding
        self.handlerQueue = handlerQueue
    }

    /// Calls `handler` once with a valid token, or with the reason why there is none.
    @available(*, renamed: "token()")
    @discardableResult
    public func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        // In its order as well: who sees the new token comes after those who waited for it.
        if let token = service?.freshToken {
            handlerQueue.enqueue { handler(.success(token)) }
            return .answered
        }
        let deliver: AccessTokenHandler = { [handlerQueue] result in handlerQueue.enqueue { handler(result) } }
        if let service { return AccessTokenRetrieval(onCancel: service.retrieveToken(then: deliver)) }
        let answer = OneShot(abandoned: .failure(AccessTokenError.loadAbandoned), deliver)
        if let callbacks {
            let retrieval = callbacks.retrieveToken { answer($0) }
            return AccessTokenRetrieval { [weak answer] in
                // In this order, or an error of the service's own for a cancelled call would come first.
                answer?(.failure(CancellationError()))
                retrieval.cancel()
            }
        }
        let task = inOrder { [base] in
            do { answer(.success(try await base.token())) } catch { answer(.failure(error)) }
        }
        return AccessTokenRetrieval {
            answer(.failure(CancellationError()))
            task.cancel()
        }
    }

    /// A valid token from the service itself, for async code that was given the adapter.
    public nonisolated(nonsending) func token() async throws -> AccessToken {
        try await base.token()
    }

    /// Says that a server rejected this token; see ``AccessTokenProviding/invalidate(_:)``.
    public func invalidate(_ rejected: AccessToken) {
        if let service { return service.invalidate(rejected) }
        if let callbacks { return callbacks.invalidate(rejected) }
        inOrder { [base] in await base.invalidate(rejected) }
    }

    /// Ends the session, and calls `done` on the handlers' queue; see ``AccessTokenProviding/signOut(then:)``.
    public func signOut(then done: @escaping @Sendable () -> Void) {
        let finish: @Sendable () -> Void = { [handlerQueue] in handlerQueue.enqueue(done) }
        if let service { return service.signOut(then: finish) }
        if let callbacks {
            // One that drops its handler has nothing more to forget.
            let finish = OneShot(abandoned: (), finish)
            return callbacks.signOut { finish(()) }
        }
        inOrder { [base] in
            await base.signOut()
            finish()
        }
    }

    /// Starts a task that calls a service of others, after those that were started before.
    ///
    /// All have one priority: of two priorities, the higher one would overtake on its way to an actor. The task is inside
    /// the loads that the caller is inside, which a queue does not hand on by itself (R1).
    @discardableResult
    private func inOrder(_ call: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        let enclosing = EnclosingLoads.current
        return Task(executorPreference: order, priority: .high) {
            await EnclosingLoads.with(enclosing, call)
        }
    }
}
