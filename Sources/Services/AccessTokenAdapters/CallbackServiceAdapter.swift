public import AccessTokenAsync
import AccessTokenCore
public import AccessTokenGCD
public import Dispatch

/// An async service, as callback code sees it.
///
/// Calls through one adapter reach the service in the order in which they were made. So a caller that signs out and then asks
/// is told `signedOut`, and one that invalidates a token is not given it again. For all others a sign-out counts from some
/// moment between its call and its `done`. Wait for `done` of `signOut(then:)` before you sign in at the service itself. A
/// service of your own may answer later calls first.
///
/// **Concurrency** Handlers are called as `AccessTokenService` calls them: one at a time, in the order of the answers,
/// never before the call has returned, on a serial queue that targets the queue given (D2 to D4). Calls and answers need a
/// free thread of the pool that runs tasks; a valid token does not, unless another call is under way.
///
/// **Cancellation** ``AccessTokenRetrieval/cancel()`` answers at once with `CancellationError` and cancels the task
/// that waits for the token, where there is one (X1).
public final class CallbackServiceAdapter: AccessTokenProviding, HandlerQueueProviding {
    /// The ways to call a base, from the one that needs the fewest hops to the one that always works.
    private enum Calls {
        case ofCallbacks(any AccessTokenProviding)
        case ofActor(AsyncAccessTokenService, OrderedCalls)
        case ofOthers
    }

    let base: any AsyncAccessTokenProviding
    private let calls: Calls
    /// Starts the tasks that call a service of others, one after the other.
    private let order: DispatchQueue
    package let handlerQueue: any SerialQueue

    /// Presents an async service as a callback one.
    ///
    /// Handlers are called on `handlerQueue`: serial, concurrent or the main queue. The default is a global queue.
    public convenience init(of base: any AsyncAccessTokenProviding, handlerQueue: DispatchQueue = .global()) {
        self.init(of: base, handlersOn: DispatchQueue(label: "CallbackServiceAdapter.handlers", target: handlerQueue))
    }

    /// Takes its queue, for tests that decide what comes before what.
    package init(of base: any AsyncAccessTokenProviding, handlersOn handlerQueue: any SerialQueue) {
        // An adapter of an adapter shares its order of calls.
        let inner = (base as? AsyncServiceAdapter)?.base as? CallbackServiceAdapter
        self.base = inner?.base ?? base
        self.handlerQueue = handlerQueue
        order = inner?.order ?? DispatchQueue(label: "CallbackServiceAdapter.order")
        if let inner {
            calls = inner.calls
        } else if let service = base as? AsyncAccessTokenService {
            calls = .ofActor(service, OrderedCalls(startTask: service.startTask))
        } else if let callbacks = (base as? AsyncServiceAdapter)?.base ?? base as? AccessTokenService {
            calls = .ofCallbacks(callbacks)
        } else {
            calls = .ofOthers
        }
    }

    /// Calls `handler` once with a valid token, or with the reason why there is none.
    @available(*, renamed: "token()")
    @discardableResult
    public func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        // A token that is there must not overtake a call that the service has not seen yet.
        if case .ofActor(let service, let calls) = calls, !calls.areUnderWay, let token = service.freshToken {
            handlerQueue.enqueue { handler(.success(token)) }
            return .answered
        }
        let answer = OneShot<LoadResult>(
            abandoned: .failure(AccessTokenError.loadAbandoned),
            handlerQueue.callback(handler)
        )
        let cancelled = Latch()
        switch calls {
        case .ofCallbacks(let service):
            let retrieval = service.retrieveToken { answer($0) }
            cancelled.whenFired { retrieval.cancel() }
        case .ofActor(let service, let calls):
            let caller = CallerContext()
            calls.add {
                guard let waiter = await service.retrieveToken(by: caller, then: { answer($0) }) else { return }
                cancelled.whenFired { [weak service] in calls.add { await service?.cancel(waiter) } }
            }
        case .ofOthers:
            let task = startInOrder { [base] in
                do { answer(.success(try await base.token())) } catch { answer(.failure(error)) }
            }
            cancelled.whenFired { task.cancel() }
        }
        return AccessTokenRetrieval { [weak answer] in
            // In this order, or an error of the service's own for a cancelled call would come first.
            answer?(.failure(cancellationError))
            cancelled.fire()
        }
    }

    /// A valid token from the service itself, after the calls that were made through the adapter (but see above).
    ///
    /// It stands beside `retrieveToken(then:)`, where the compiler points async code to it.
    public nonisolated(nonsending) func token() async throws -> AccessToken {
        await callsHaveReachedTheService()
        return try await base.token()
    }

    /// Returns when the calls that were made before have reached the actor; a service of others does not say so.
    nonisolated(nonsending) func callsHaveReachedTheService() async {
        if case .ofActor(_, let calls) = calls { await calls.finished() }
    }

    /// Says that a server rejected this token; see ``AccessTokenProviding/invalidate(_:)``.
    public func invalidate(_ rejected: AccessToken) {
        if case .ofCallbacks(let service) = calls { return service.invalidate(rejected) }
        inOrder { [base] in await base.invalidate(rejected) }
    }

    /// Ends the session, and calls `done` on the handlers' queue; see ``AccessTokenProviding/signOut(then:)``.
    public func signOut(then done: @escaping @Sendable () -> Void) {
        // A service of others that drops its handler has nothing more to forget.
        let finish = OneShot(abandoned: (), handlerQueue.callback(done))
        switch calls {
        case .ofCallbacks(let service):
            service.signOut { finish(()) }
        case .ofActor(let service, let calls):
            let enclosing = LoadContext.currentLoads
            calls.add { await service.endSession(inside: enclosing) { finish(()) } }
        case .ofOthers:
            inOrder { [base] in
                await base.signOut()
                finish(())
            }
        }
    }

    /// Makes a call of the service that the adapter has no function for, after the calls that were made through the adapter.
    ///
    /// ```swift
    /// provider.inOrder { await service.signIn(token) }
    /// ```
    ///
    /// Over a callback service, make the call directly instead: it counts at once there.
    ///
    /// - Parameter call: must return soon: the next call waits for it. Do not wait for a token in it.
    public func inOrder(_ call: @escaping @Sendable () async -> Void) {
        guard case .ofActor(_, let calls) = calls else { return _ = startInOrder(call) }
        // As a task would be, the call is inside the loads that the caller is inside (R1).
        let context = LoadContext.current
        calls.add { await LoadContext.$current.withValue(context) { await call() } }
    }

    /// Starts a task that calls a service of others, after those that were started before.
    ///
    /// All have one priority: of two priorities, the higher one would overtake on its way to an actor. The task is inside
    /// the loads that the caller is inside (R1). Before iOS 18 tasks can only start in any order.
    private func startInOrder(_ call: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
            return Task(priority: .high) { await call() }
        }
        return Task(executorPreference: DispatchQueueExecutor(queue: order), priority: .high) { await call() }
    }
}
