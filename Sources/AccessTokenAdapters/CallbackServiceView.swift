public import AccessTokenAsync
public import AccessTokenGCD
public import Dispatch

/// An async service, as callback code sees it.
///
/// Calls count at once with the services of this package, and with all that have callbacks themselves: the view calls
/// these. A service of others learns of a call when a task reaches it, in the order of the calls. So wait for `done` of
/// `signOut(then:)` before you sign in at such a service itself; and there a caller that finds a token may be answered
/// before one that waited for it.
///
/// ```swift
/// let provider: any AccessTokenProviding = CallbackServiceView(of: asyncService, queue: .main)
/// provider.retrieveToken { result in … }
/// ```
///
/// **Concurrency** Handlers are called as `AccessTokenService` calls them: one at a time, in the order of the calls,
/// never before the call has returned, on a serial queue that targets the queue given (D2 to D4).
///
/// **Cancellation** ``AccessTokenRetrieval/cancel()`` answers at once with `CancellationError` and cancels the task
/// that waits for the token, where there is one (X1).
public final class CallbackServiceView: AccessTokenProviding {
    private let base: any AsyncAccessTokenProviding
    private let service: AsyncAccessTokenService?
    /// The base as callback code sees it, if it is known there: then no task comes between.
    private let callbacks: (any AccessTokenProviding)?
    private let delivery: any SerialQueue
    /// Starts the tasks that call a service of others, one after the other.
    private let order: DispatchQueueExecutor

    /// Creates the callback view of an async service.
    ///
    /// - Parameters:
    ///   - base: the service.
    ///   - queue: where handlers are called; serial, concurrent or the main queue. The default is a global queue.
    public convenience init(of base: any AsyncAccessTokenProviding, queue: DispatchQueue = .global()) {
        self.init(of: base, delivery: DispatchQueue(label: "CallbackServiceView.delivery", target: queue))
    }

    /// Takes its queues, of which `order` must be serial: whoever holds them decides when a service of others is called,
    /// and when handlers are.
    package init(
        of base: any AsyncAccessTokenProviding,
        delivery: any SerialQueue,
        order: DispatchQueue = DispatchQueue(label: "CallbackServiceView.order")
    ) {
        self.base = base
        self.order = DispatchQueueExecutor(queue: order)
        service = base as? AsyncAccessTokenService
        callbacks = (base as? AsyncServiceView)?.base ?? base as? any AccessTokenProviding
        self.delivery = delivery
    }

    /// Calls `handler` once with a valid token, or with the reason why there is none.
    @available(*, renamed: "token()")
    @discardableResult
    public func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        // In its order as well: who sees the new token comes after those who waited for it.
        if let token = service?.freshToken {
            delivery.enqueue { handler(.success(token)) }
            return .answered
        }
        let deliver: AccessTokenHandler = { [delivery] result in delivery.enqueue { handler(result) } }
        if let service {
            let loads = LoadContext.loads + LoaderCall.loads
            return AccessTokenRetrieval(onCancel: service.retrieveToken(inside: loads, then: deliver))
        }
        let answer = OneShot(abandoned: .failure(AccessTokenError.loadAbandoned), deliver)
        if let callbacks {
            let retrieval = callbacks.retrieve(inside: LoadContext.loads + LoaderCall.loads) { answer($0) }
            return AccessTokenRetrieval { [weak answer] in
                retrieval.cancel()
                answer?(.failure(CancellationError()))
            }
        }
        let task = Task(executorPreference: order) { [base] in
            do { answer(.success(try await base.token())) } catch { answer(.failure(error)) }
        }
        return AccessTokenRetrieval {
            answer(.failure(CancellationError()))
            task.cancel()
        }
    }

    /// A valid token from the service itself, for async code that was given the view.
    public nonisolated(nonsending) func token() async throws -> AccessToken {
        try await base.token()
    }

    /// Says that a server rejected this token; see ``AccessTokenProviding/invalidate(_:)``.
    public func invalidate(_ rejected: AccessToken) {
        if let service { return service.invalidate(rejected) }
        if let callbacks { return callbacks.invalidate(rejected) }
        Task(executorPreference: order) { [base] in await base.invalidate(rejected) }
    }

    /// Ends the session, and calls `done` on the handlers' queue; see ``AccessTokenProviding/signOut(then:)``.
    public func signOut(then done: @escaping @Sendable () -> Void) {
        let finish: @Sendable () -> Void = { [delivery] in delivery.enqueue(done) }
        if let service { return service.signOut(then: finish) }
        if let callbacks {
            // One that drops its handler has nothing more to forget.
            let finish = OneShot(abandoned: (), finish)
            return callbacks.signOut { finish(()) }
        }
        Task(executorPreference: order) { [base] in
            await base.signOut()
            finish()
        }
    }
}

extension AccessTokenProviding {
    /// Retrieves a token for a caller that may be inside loads, which only a service of this package asks about.
    fileprivate func retrieve(
        inside loads: [LoadID],
        then handler: @escaping AccessTokenHandler
    ) -> AccessTokenRetrieval {
        guard let service = self as? AccessTokenService else { return retrieveToken(then: handler) }
        let caller = CallerContext(ownLoad: loads.flight(of: service), loads: loads)
        return service.retrieveToken(by: caller, then: handler)
    }
}
