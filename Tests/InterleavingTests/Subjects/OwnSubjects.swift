import AccessTokenAdapters
import Dispatch
import Foundation

extension Subject {
    /// The services of this package, and each as its adapters present it, as far as control reaches.
    static let own = [
        actor, actorObserved, actorWithCallbackLoader, queue, queueObserved, queueApart, queueAsAsync,
        queueAsAsyncAsCallback, actorAsCallback, actorAsCallbackAsAsync,
    ]

    /// What is not explored, and why.
    static let outOfReach = [
        (
            "the callback view of a service of others",
            "its tasks reach the service later than a call that does not go through the view"
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

    /// With somebody who is told all events: they are effects of their own, in the order of the decisions.
    static let actorObserved = Subject(
        "the actor, observed",
        reach: .everySchedule(butIn: [
            "four callers", "two callers, both cancelled", "a late answer for two",
            "cancellation, sign-out and deadline",
        ])
    ) { surroundings in
        let service = actorService(surroundings, onEvent: surroundings.observe)
        return Service(
            provider: .async(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let actorWithCallbackLoader = Subject(
        "the actor with a callback loader",
        reach: .bounded(departures: 2)
    ) { surroundings in
        let loading = surroundings.stage.queue("loading", target: nil)
        let service = AsyncAccessTokenService(
            loader: AsyncLoaderView(of: surroundings.loader, loading: loading, onEvent: nil),
            policy: surroundings.policy,
            clock: surroundings.clock,
            executor: surroundings.stage.executor
        )
        return Service(
            provider: .async(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let queueObserved = Subject(
        "the queue service, observed",
        isByHandlers: true,
        reach: .everySchedule(butIn: [
            "three callers", "four callers", "errors only", "two callers, one of them cancelled",
            "two callers, both cancelled", "an error for a caller and a cancelled one", "a late rejection",
            "two who reject the same", "two who reject the same and ask again", "sign-out beside two callers",
            "sign-in beside a sign-out", "a late answer for two", "cancellation, sign-out and deadline",
            "the last reference goes, with two callers",
        ])
    ) { surroundings in
        let service = queueService(surroundings, surroundings.loader, onEvent: surroundings.observe)
        return Service(
            provider: .callback(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let queueAsAsyncAsCallback = Subject(
        "the queue service as async as callback",
        isByHandlers: true,
        reach: .bounded(departures: 2)
    ) { surroundings in
        let service = queueService(surroundings, surroundings.loader)
        let queue = surroundings.stage.queue("view", target: nil)
        let view = CallbackServiceView(
            of: service,
            queue: queue,
            order: surroundings.stage.queue("order", target: queue)
        )
        return Service(
            provider: .callback(view),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let queue = Subject(
        "the queue service",
        isByHandlers: true,
        reach: .everySchedule(butIn: [
            "three callers", "four callers", "two callers, both cancelled", "sign-out beside two callers",
            "a late answer for two", "cancellation, sign-out and deadline",
        ])
    ) { surroundings in
        let service = queueService(surroundings, surroundings.loader)
        return Service(
            provider: .callback(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let queueApart = Subject(
        "the queue service, delivering by itself",
        isByHandlers: true,
        reach: .bounded(departures: 2)
    ) { surroundings in
        let service = queueService(surroundings, surroundings.loader, isApart: true)
        return Service(
            provider: .callback(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let queueAsAsync = Subject(
        "the queue service as async, with an async loader",
        reach: .everySchedule(butIn: [
            "three callers", "four callers", "an error, and two who ask again", "errors only",
            "two callers, one of them cancelled", "two callers, both cancelled",
            "an error for a caller and a cancelled one", "a rejection beside a caller", "a late rejection",
            "two who reject the same", "two who reject the same and ask again", "sign-out beside two callers",
            "sign-in beside a sign-out", "a silent load, and the next", "a late answer", "a late answer for two",
            "a deadline for two", "an error, and then silence", "cancellation, answer and deadline",
            "cancellation, sign-out and deadline",
        ])
    ) { surroundings in
        let loader = CallbackLoaderView(of: surroundings.loader, executor: surroundings.stage.executor)
        let service = queueService(surroundings, loader)
        return Service(
            provider: .async(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let actorAsCallback = Subject(
        "the actor as callback",
        isByHandlers: true,
        reach: .bounded(departures: 2)
    ) { surroundings in
        let service = actorService(surroundings)
        let queue = surroundings.stage.queue("queue", target: nil)
        return Service(
            provider: .callback(CallbackServiceView(of: service, queue: queue)),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let actorAsCallbackAsAsync = Subject(
        "the actor as callback as async",
        reach: .bounded(departures: 2)
    ) { surroundings in
        let service = actorService(surroundings)
        let queue = surroundings.stage.queue("queue", target: nil)
        return Service(
            provider: .async(AsyncServiceView(of: CallbackServiceView(of: service, queue: queue))),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    private static func actorService(
        _ surroundings: Surroundings,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) -> AsyncAccessTokenService {
        AsyncAccessTokenService(
            loader: surroundings.loader,
            policy: surroundings.policy,
            clock: surroundings.clock,
            executor: surroundings.stage.executor,
            onEvent: onEvent
        )
    }

    /// The queue service on unmodified queues, the private ones included.
    ///
    /// - Parameter isApart: whether handlers are delivered by a queue of their own. If not, all queues go through
    ///   one, so that their blocks run in the order in which they came.
    private static func queueService(
        _ surroundings: Surroundings,
        _ loader: any AccessTokenLoader,
        isApart: Bool = false,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) -> AccessTokenService {
        let queue = surroundings.stage.queue("queue", target: nil)
        let inner = isApart ? surroundings.stage.queue("private queues", target: nil) : queue
        return AccessTokenService(
            loader: loader,
            policy: surroundings.policy,
            clock: surroundings.clock,
            queue: queue,
            engine: surroundings.stage.queue("engine", target: inner),
            loading: surroundings.stage.queue("loading", target: inner),
            onEvent: onEvent
        )
    }
}
