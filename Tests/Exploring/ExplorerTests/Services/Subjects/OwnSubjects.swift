import AccessTokenAdapters
import AccessTokenCore
import AccessTokenSynchronization
import InterleavingExplorer

extension Subject {
    /// The services of this package, and each as its adapters present it.
    ///
    /// Not explored: the callback adapter of a foreign service, since its tasks reach the service later than a call
    /// that does not go through the adapter; and the order in which tasks see their answers, since an executor may run
    /// resumed tasks in any order.
    static let own = [
        actor, actorObserved, actorWithCallbackLoader, queue, queueObserved, queueApart, queueOfDispatch, queueAsAsync,
        queueAsAsyncAsCallback, actorAsCallback, actorAsCallbackAsAsync,
    ]

    static let actor = Subject(name: "the actor") { Service(actorService($0)) }

    /// With a listener that is told all events: they are effects of their own, in the order of the decisions.
    static let actorObserved = Subject(name: "the actor, observed") { surroundings in
        Service(actorService(surroundings, onEvent: surroundings.observe))
    }

    static let actorWithCallbackLoader = Subject(name: "the actor with a callback loader") { surroundings in
        let queue = surroundings.queue("loader")
        let loader = AsyncLoaderAdapter(of: surroundings.loader, loaderOn: queue, onEvent: nil)
        return Service(actorService(surroundings, loader: loader))
    }

    static let actorAsCallback = Subject(name: "the actor as callback", isByHandlers: true) { surroundings in
        let service = actorService(surroundings)
        let view = CallbackServiceAdapter(of: service, handlersOn: surroundings.queue("handlers"))
        return Service(
            provider: .callback(view),
            signInFromHandler: { token, counts in
                view.callInOrder {
                    await service.signIn(token)
                    counts()
                }
            },
            signsOutAtOnce: false,
            currentToken: { service.currentToken }
        )
    }

    static let actorAsCallbackAsAsync = Subject(name: "the actor as callback as async") { surroundings in
        let service = actorService(surroundings)
        let view = CallbackServiceAdapter(of: service, handlersOn: surroundings.queue("handlers"))
        return Service(service, as: AsyncServiceAdapter(of: view))
    }

    private static func actorService(
        _ surroundings: Surroundings,
        loader: (any AsyncAccessTokenLoader)? = nil,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) -> AsyncAccessTokenService {
        AsyncAccessTokenService(
            loader: loader ?? surroundings.loader,
            policy: surroundings.policy,
            clock: surroundings.clock,
            startTask: TaskStarter(executor: surroundings.run.executor),
            events: onEvent.map { EventDelivery(on: { deliver in Task.detached { deliver() } }, to: $0) }
        )
    }
}
