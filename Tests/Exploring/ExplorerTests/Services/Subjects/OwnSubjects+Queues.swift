import AccessTokenAdapters

/// The queue service, on queues whose every block is a choice when it is there.
extension Subject {
    /// With all its queues as one: blocks run in the order in which they came.
    static let queue = Subject("the queue service", isByHandlers: true) { surroundings in
        serving(queueService(surroundings))
    }

    static let queueObserved = Subject("the queue service, observed", isByHandlers: true) { surroundings in
        serving(queueService(surroundings, onEvent: surroundings.observe))
    }

    /// With two queues, as in apps: what they hold runs in any order.
    static let queueApart = Subject("the queue service, each of its queues apart", isByHandlers: true) { surroundings in
        let stage = surroundings.stage
        let service = AccessTokenService(
            loader: surroundings.loader,
            policy: surroundings.policy,
            clock: surroundings.clock,
            loaderOn: stage.queue("loader"),
            handlersOn: stage.queue("handlers"),
            eventsOn: EventThread.queue,
            onEvent: nil
        )
        return serving(service)
    }

    /// On queues of Dispatch, as they are, which go through a suspended one; it shows that nothing depends on the kind
    /// of queue.
    ///
    /// Whether such a queue is empty cannot be seen: draining it is a choice after every step, needed or not; and
    /// a block that only adds another one cannot be told from none: what comes in between is not always tried.
    static let queueOfDispatch = Subject("the queue service on queues of Dispatch", isByHandlers: true) {
        surroundings in
        let stage = surroundings.stage
        let queue = stage.dispatchQueue("queue", target: nil)
        let service = AccessTokenService(
            loader: surroundings.loader,
            policy: surroundings.policy,
            clock: surroundings.clock,
            loaderOn: stage.dispatchQueue("loader", target: queue),
            handlersOn: stage.dispatchQueue("handlers", target: queue),
            eventsOn: EventThread.queue,
            onEvent: nil
        )
        return serving(service)
    }

    static let queueAsAsync = Subject("the queue service as async, with an async loader") { surroundings in
        let loader = CallbackLoaderAdapter(of: surroundings.loader, executor: surroundings.stage.executor)
        let service = queueService(surroundings, loader: loader)
        return Service(
            provider: .async(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let queueAsAsyncAsCallback = Subject("the queue service as async as callback", isByHandlers: true) {
        surroundings in
        let service = queueService(surroundings)
        let view = CallbackServiceAdapter(of: service, handlersOn: surroundings.stage.queue("view"))
        return Service(
            provider: .callback(view),
            signInFromHandler: { token, counts in
                service.signIn(token)
                counts()
            },
            currentToken: { service.currentToken }
        )
    }

    private static func serving(_ service: AccessTokenService) -> Service {
        Service(
            provider: .callback(service),
            signInFromHandler: { token, counts in
                service.signIn(token)
                counts()
            },
            currentToken: { service.currentToken }
        )
    }

    /// The queue service with all its queues as one.
    private static func queueService(
        _ surroundings: Surroundings,
        loader: (any AccessTokenLoader)? = nil,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) -> AccessTokenService {
        let queue = surroundings.stage.queue("queue")
        return AccessTokenService(
            loader: loader ?? surroundings.loader,
            policy: surroundings.policy,
            clock: surroundings.clock,
            loaderOn: queue,
            handlersOn: queue,
            eventsOn: { queue.enqueue($0) },
            onEvent: onEvent
        )
    }
}
