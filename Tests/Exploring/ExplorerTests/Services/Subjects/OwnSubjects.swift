import AccessTokenAdapters

extension Subject {
    /// The services of this package, and each as its adapters present it.
    ///
    /// Not explored: the callback adapter of a foreign service, since its tasks reach the service later than a call that
    /// does not go through the adapter; and the order in which tasks see their answers, since an executor may run
    /// resumed tasks in any order.
    static let own = [
        actor, actorObserved, actorWithCallbackLoader, queue, queueObserved, queueApart, queueOfDispatch, queueAsAsync,
        queueAsAsyncAsCallback, actorAsCallback, actorAsCallbackAsAsync,
    ]

    static let actor = Subject("the actor") { surroundings in
        let service = actorService(surroundings)
        return Service(
            provider: .async(service),
            signIn: { await service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    /// With a listener that is told all events: they are effects of their own, in the order of the decisions.
    static let actorObserved = Subject("the actor, observed") { surroundings in
        let service = actorService(surroundings, onEvent: surroundings.observe)
        return Service(
            provider: .async(service),
            signIn: { await service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let actorWithCallbackLoader = Subject("the actor with a callback loader") { surroundings in
        let loaderQueue = surroundings.stage.queue("loader")
        let service = AsyncAccessTokenService(
            loader: AsyncLoaderAdapter(of: surroundings.loader, loaderOn: loaderQueue, onEvent: nil),
            policy: surroundings.policy,
            clock: surroundings.clock,
            executor: surroundings.stage.executor
        )
        return Service(
            provider: .async(service),
            signIn: { await service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let actorAsCallback = Subject("the actor as callback", isByHandlers: true) { surroundings in
        let service = actorService(surroundings)
        let view = CallbackServiceAdapter(of: service, handlersOn: surroundings.stage.queue("handlers"))
        return Service(
            provider: .callback(view),
            signInFromHandler: { token, counts in
                view.inOrder {
                    await service.signIn(token)
                    counts()
                }
            },
            signsOutAtOnce: false,
            currentToken: { service.currentToken }
        )
    }

    static let actorAsCallbackAsAsync = Subject("the actor as callback as async") { surroundings in
        let service = actorService(surroundings)
        let handlerQueue = surroundings.stage.queue("handlers")
        return Service(
            provider: .async(AsyncServiceAdapter(of: CallbackServiceAdapter(of: service, handlersOn: handlerQueue))),
            signIn: { await service.signIn($0) },
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
            startTask: TaskStarter(executor: surroundings.stage.executor),
            eventsOn: { deliver in Task.detached { deliver() } },
            onEvent: onEvent
        )
    }
}
