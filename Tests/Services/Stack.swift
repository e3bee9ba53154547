import AccessTokenAdapters
import AccessTokenCore
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport

/// A service with its adapters, as a codebase in the middle of its migration has them.
enum Stack: String, CaseIterable, Sendable {
    case queue = "the queue service"
    case actor = "the actor"
    case queueAsyncLoader = "the queue service with an async loader"
    case actorCallbackLoader = "the actor with a callback loader"
    case queueBehindAdapters = "the queue service behind two adapters"
    case actorBehindAdapters = "the actor behind two adapters"
    case queueBehindOthers = "the queue service behind a service of others"
    case actorBehindOthers = "the actor behind a service of others"

    /// Between the caller and the service is one that the adapters do not know: calls reach it in tasks.
    var isForeign: Bool { self == .queueBehindOthers || self == .actorBehindOthers }

    /// What a script calls.
    struct Doors: Sendable {
        let callback: any AccessTokenProviding
        let async: any AsyncAccessTokenProviding
        let signIn: @Sendable (AccessToken?) -> Void
        let currentToken: @Sendable () -> AccessToken?
        /// Returns when the calls that have reached the service have been decided on.
        var settle: @Sendable () -> Void = {}
    }

    func make(
        _ loader: any AccessTokenLoader & AsyncAccessTokenLoader,
        _ clock: any AccessTokenClock,
        _ onEvent: (@Sendable (AccessTokenEvent) -> Void)?,
        executor: (any TaskExecutor)?,
        policy: AccessTokenPolicy
    ) -> Doors {
        func queue(_ loader: any AccessTokenLoader) -> AccessTokenService {
            AccessTokenService(loader: loader, policy: policy, clock: clock, onEvent: onEvent)
        }
        func actor(_ loader: any AsyncAccessTokenLoader) -> AsyncAccessTokenService {
            AsyncAccessTokenService(
                loader: loader,
                policy: policy,
                clock: clock,
                startTask: executor.map { TaskStarter(executor: $0) } ?? TaskStarter(),
                events: onEvent.map { EventDelivery(to: $0) }
            )
        }
        switch self {
        case .queue:
            let service = queue(loader)
            return doors(service, callback: service, async: service)
        case .actor:
            let service = actor(loader)
            let view = CallbackServiceAdapter(of: service)
            return doors(service, callback: view, async: service, settledBy: view)
        case .queueAsyncLoader:
            let adapter = executor.map { CallbackLoaderAdapter(of: loader, executor: $0) }
            let service = queue(adapter ?? CallbackLoaderAdapter(of: loader))
            return doors(service, callback: service, async: service)
        case .actorCallbackLoader:
            let service = actor(AsyncLoaderAdapter(of: loader, onEvent: onEvent))
            let view = CallbackServiceAdapter(of: service)
            return doors(service, callback: view, async: service, settledBy: view)
        case .queueBehindAdapters:
            let service = queue(loader)
            let callback = CallbackServiceAdapter(of: AsyncServiceAdapter(of: service))
            return doors(service, callback: callback, async: AsyncServiceAdapter(of: callback))
        case .actorBehindAdapters:
            let service = actor(loader)
            let view = CallbackServiceAdapter(of: service)
            let async = AsyncServiceAdapter(of: view)
            return doors(service, callback: CallbackServiceAdapter(of: async), async: async, settledBy: view)
        case .queueBehindOthers:
            let service = queue(loader)
            let async = AsyncServiceAdapter(of: CallbackServiceOfOthers(base: service))
            let callback = CallbackServiceAdapter(of: AsyncServiceOfOthers(base: async))
            return doors(service, callback: callback, async: async)
        case .actorBehindOthers:
            let service = actor(loader)
            let callback = CallbackServiceAdapter(of: AsyncServiceOfOthers(base: service))
            let view = CallbackServiceAdapter(of: service)
            return doors(service, callback: callback, async: AsyncServiceAdapter(of: callback), settledBy: view)
        }
    }

    private func doors(
        _ service: AccessTokenService,
        callback: any AccessTokenProviding,
        async: any AsyncAccessTokenProviding
    ) -> Doors {
        Doors(callback: callback, async: async) {
            if let token = $0 { service.signIn(token) } else { service.signIn() }
        } currentToken: {
            service.currentToken
        }
    }

    private func doors(
        _ service: AsyncAccessTokenService,
        callback: any AccessTokenProviding,
        async: any AsyncAccessTokenProviding,
        settledBy view: CallbackServiceAdapter
    ) -> Doors {
        Doors(callback: callback, async: async) { token in
            blocking { if let token { await service.signIn(token) } else { await service.signIn() } }
        } currentToken: {
            service.currentToken
        } settle: {
            // What came by the view comes first, and then what came to the service itself.
            let isSettled = DispatchSemaphore(value: 0)
            view.callInOrder { await service.signal(isSettled) }
            isSettled.wait()
            Task.immediate { await service.signal(isSettled) }
            isSettled.wait()
        }
    }
}

extension AsyncAccessTokenService {
    /// Signals from inside the actor: the optimizer leaves out a hop to an actor where nothing is done.
    fileprivate func signal(_ semaphore: DispatchSemaphore) { semaphore.signal() }
}

/// Blocks the thread, which must not be one of the pool's, until the call has returned.
private func blocking(_ call: @escaping @Sendable () async -> Void) {
    let hasReturned = DispatchSemaphore(value: 0)
    Task.immediate {
        await call()
        hasReturned.signal()
    }
    hasReturned.wait()
}

/// Runs what a task has to do at once, on the thread that resumes or starts the task.
final class InlineExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        unsafe UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}

/// Starts the jobs of tasks when a test says so.
final class HeldExecutor: TaskExecutor {
    private let queue: HeldQueue
    init(queue: HeldQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.enqueue { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension AsyncAccessTokenService {
    /// A service that starts its own tasks when a test says so, and its loader's at once.
    init(
        token: AccessToken? = nil,
        loader: any AsyncAccessTokenLoader,
        policy: AccessTokenPolicy = AccessTokenPolicy(),
        clock: any AccessTokenClock,
        heldBy queue: HeldQueue,
        events: EventDelivery? = nil
    ) {
        self.init(
            token: token,
            loader: loader,
            policy: policy,
            clock: clock,
            startTask: TaskStarter(executor: HeldExecutor(queue: queue)),
            startLoaderTask: TaskStarter(),
            events: events
        )
    }
}

/// Hides its base from the adapters.
struct AsyncServiceOfOthers: AsyncAccessTokenProviding {
    let base: any AsyncAccessTokenProviding

    func token() async throws -> AccessToken { try await base.token() }
    func invalidate(_ rejected: AccessToken) async { await base.invalidate(rejected) }
    func signOut() async { await base.signOut() }
}

/// Hides its base from the adapters.
private final class CallbackServiceOfOthers: AccessTokenProviding {
    private let base: any AccessTokenProviding

    init(base: any AccessTokenProviding) { self.base = base }

    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        base.callFromLegacyCode(then: handler)
    }
    func invalidate(_ rejected: AccessToken) { base.invalidate(rejected) }
    func signOut(then done: @escaping @Sendable () -> Void) { base.signOutFromLegacyCode(then: done) }
}
