import AccessTokenAdapters
import Dispatch
import Foundation

extension Subject {
    /// The services of this package, and each as its adapters present it, as far as control reaches.
    static let own = [actor, queue, queueApart, queueAsAsync, actorAsCallback, actorAsCallbackAsAsync]

    /// What is not explored, and why.
    static let outOfReach = [
        ("a callback loader as async", "its view calls the loader on a private queue"),
        (
            "the queue service as async as callback",
            "the view of a service of others starts its tasks on a private queue"
        ),
        (
            "the order in which tasks see their answers",
            "an executor may run resumed tasks in any order; handlers show it"
        ),
    ]

    static let actor = Subject("the actor") { surroundings in
        let service = actorService(surroundings)
        return Service(
            provider: .async(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let queue = Subject("the queue service", isByHandlers: true) { surroundings in
        let service = queueService(surroundings, surroundings.loader)
        return Service(
            provider: .callback(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let queueApart = Subject(
        "the queue service, each queue by itself",
        isByHandlers: true,
        reach: .bounded(departures: 3)
    ) { surroundings in
        let service = queueService(surroundings, surroundings.loader, areApart: true)
        return Service(
            provider: .callback(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let queueAsAsync = Subject("the queue service as async, with an async loader") { surroundings in
        let loader = CallbackLoaderView(of: surroundings.loader, executor: surroundings.stage.executor)
        let service = queueService(surroundings, loader)
        return Service(
            provider: .async(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let actorAsCallback = Subject("the actor as callback", isByHandlers: true) { surroundings in
        let service = actorService(surroundings)
        let queue = surroundings.stage.queue("queue", target: nil)
        return Service(
            provider: .callback(CallbackServiceView(of: service, queue: queue)),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let actorAsCallbackAsAsync = Subject("the actor as callback as async") { surroundings in
        let service = actorService(surroundings)
        let queue = surroundings.stage.queue("queue", target: nil)
        return Service(
            provider: .async(AsyncServiceView(of: CallbackServiceView(of: service, queue: queue))),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    /// Which the explorer cannot hold: see ``outOfReach``.
    static let actorWithCallbackLoader = Subject("the actor with a callback loader") { surroundings in
        let service = AsyncAccessTokenService(
            loader: AsyncLoaderView(of: surroundings.loader),
            clock: surroundings.clock,
            executor: surroundings.stage.executor
        )
        return Service(provider: .async(service))
    }

    private static func actorService(_ surroundings: Surroundings) -> AsyncAccessTokenService {
        AsyncAccessTokenService(
            loader: surroundings.loader,
            policy: surroundings.policy,
            clock: surroundings.clock,
            executor: surroundings.stage.executor
        )
    }

    /// The queue service on unmodified queues, the private ones included.
    ///
    /// - Parameter areApart: whether each queue is drained by itself. If not, all go through one, so that their
    ///   blocks run in the order in which they came.
    private static func queueService(
        _ surroundings: Surroundings,
        _ loader: any AccessTokenLoader,
        areApart: Bool = false
    ) -> AccessTokenService {
        let queue = surroundings.stage.queue("queue", target: nil)
        return AccessTokenService(
            loader: loader,
            policy: surroundings.policy,
            clock: surroundings.clock,
            queue: queue,
            engine: surroundings.stage.queue("engine", target: areApart ? nil : queue),
            loading: surroundings.stage.queue("loading", target: areApart ? nil : queue),
            onEvent: nil
        )
    }
}
