public import AccessTokenAsync
import AccessTokenCore
public import AccessTokenGCD
import AccessTokenSynchronization
public import Dispatch

/// An async service, as callback code sees it.
///
/// Calls through one adapter reach the service in the order in which they were made. So a caller that signs out and
/// then asks is told `signedOut`, and one that invalidates a token is not given it again. Async code that asks by an
/// ``AsyncServiceAdapter`` of this adapter keeps that order as well. Other callers may be answered as before until the
/// call has reached the service: with the former token, or with `signedOut` after a sign-in. Wait for `done` of
/// `signOut(then:)` before you sign in at the service itself.
///
/// With a service of your own, each call begins as soon as the call before has suspended. So your service may answer a
/// later call first. An invalidation is waited for: later calls begin when `invalidate(_:)` has returned. Before macOS
/// 15 and iOS 18, calls may begin in another order, invalidations apart: wait for `done` of a sign-out there.
///
/// **Concurrency** Handlers are called as `AccessTokenService` calls them: one at a time, in the order of the answers,
/// never from inside the call, on a serial queue that targets the queue given (D2 to D4). If you call from a thread
/// other than the handlers', the handler may run before your next line. Calls and answers need a free thread of the
/// pool that runs tasks; a valid token does not, unless another call is under way.
///
/// **Cancellation** ``AccessTokenRetrieval/cancel()`` answers at once with `CancellationError` and cancels the task
/// that waits for the token, where there is one (X1).
public final class CallbackServiceAdapter: AccessTokenProviding, HandlerQueueProviding {
    let base: any AsyncAccessTokenProviding
    let service: any AdaptedService
    package let handlerQueue: any SerialQueue

    /// Presents an async service as a callback one.
    ///
    /// Handlers are called on `handlerQueue`: serial, concurrent or the main queue. The default is a global queue.
    public convenience init(of base: any AsyncAccessTokenProviding, handlerQueue: DispatchQueue = .global()) {
        self.init(of: base, handlersOn: DispatchQueue(label: "CallbackServiceAdapter.handlers", target: handlerQueue))
    }

    /// Takes its queue, for tests that decide what comes before what.
    package init(of base: any AsyncAccessTokenProviding, handlersOn handlerQueue: any SerialQueue) {
        self.handlerQueue = handlerQueue
        if let inner = (base as? AsyncServiceAdapter)?.base as? CallbackServiceAdapter {
            // An adapter of an adapter shares its order of calls.
            (self.base, service) = (inner.base, inner.service)
        } else if let actor = base as? AsyncAccessTokenService {
            (self.base, service) = (base, AdaptedActor(actor))
        } else if let callbacks = (base as? AsyncServiceAdapter)?.base ?? base as? AccessTokenService {
            (self.base, service) = (base, AdaptedCallbackService(callbacks))
        } else {
            (self.base, service) = (base, AdaptedServiceOfOthers(base))
        }
    }

    /// Calls `handler` once with a valid token, or with the reason why there is none.
    @available(*, renamed: "token()")
    @discardableResult
    public func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        if let token = service.freshToken {
            handlerQueue.enqueue { handler(.success(token)) }
            return .answered
        }
        let answer = OneShot<LoadResult>(
            abandoned: .failure(AccessTokenError.loadAbandoned),
            handlerQueue.callback(handler)
        )
        let cancelled = Latch()
        service.retrieveToken(answer, until: cancelled)
        return AccessTokenRetrieval { [weak answer] in
            // In this order, or an error of the service's own for a cancelled call would come first.
            answer?(.failure(cancellationError))
            cancelled.fire()
        }
    }

    /// A valid token from the service itself, after the calls that were made through the adapter.
    ///
    /// With a service of your own, earlier calls may not have reached it yet.
    ///
    /// It stands beside `retrieveToken(then:)`, where the compiler points async code to it.
    public nonisolated(nonsending) func token() async throws -> AccessToken {
        try await callsHaveReachedTheServiceOrCancellation()
        return try await base.token()
    }

    /// Throws `CancellationError` at once to a cancelled caller (X1): other calls must not hold up the answer.
    nonisolated(nonsending) func callsHaveReachedTheServiceOrCancellation() async throws {
        await service.callsHaveReachedIt(isCancellable: true)
        try Task.checkCancellation()
    }

    /// Says that a server rejected this token; see ``AccessTokenProviding/invalidate(_:)``.
    public func invalidate(_ rejected: AccessToken) {
        service.invalidate(rejected)
    }

    /// Ends the session, and calls `done` on the handlers' queue; see ``AccessTokenProviding/signOut(then:)``.
    public func signOut(then done: @escaping @Sendable () -> Void) {
        // A service of your own that drops its handler has nothing more to forget.
        service.signOut(then: OneShot(abandoned: (), handlerQueue.callback(done)))
    }

    /// Makes a call of the service that the adapter has no function for, after the calls that were made through the
    /// adapter.
    ///
    /// ```swift
    /// provider.callInOrder { await service.signIn(token) }
    /// ```
    ///
    /// Over a callback service, make the call directly instead: it counts at once there. Made by this function, it is a
    /// task, for which later calls of the adapter's other functions do not wait.
    ///
    /// - Parameter call: must return soon: the next call waits for it. Do not wait for a token in it.
    public func callInOrder(_ call: @escaping @Sendable () async -> Void) {
        service.callInOrder(call)
    }
}
