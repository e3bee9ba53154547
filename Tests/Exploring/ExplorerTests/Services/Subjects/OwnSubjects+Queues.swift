import AccessTokenAdapters
import AccessTokenCore
import Dispatch
import InterleavingExplorer

/// The queue service, on queues whose every block is a choice when it is there.
extension Subject {
    /// With all its queues as one: blocks run in the order in which they came.
    static let queue = Subject(name: "the queue service", isByHandlers: true) { Service(queueService($0)) }

    static let queueObserved = Subject(name: "the queue service, observed", isByHandlers: true) { surroundings in
        Service(queueService(surroundings, onEvent: surroundings.observe))
    }

    /// With two queues, as in apps: what they hold runs in any order.
    static let queueApart = Subject(name: "the queue service, its queues apart", isByHandlers: true) { surroundings in
        Service(queueService(surroundings, on: (surroundings.queue("loader"), surroundings.queue("handlers"))))
    }

    /// On queues of Dispatch, as they are, which go through a suspended one; it shows that nothing depends on the kind
    /// of queue.
    ///
    /// Whether such a queue is empty cannot be seen: draining it is a choice after every step, needed or not; and
    /// a block that only adds another one cannot be told from none: what comes in between is not always tried.
    static let queueOfDispatch = Subject(name: "the queue service on queues of Dispatch", isByHandlers: true) {
        surroundings in
        let queue = DispatchQueue(label: "queue")
        surroundings.run.control(queue)
        let loaderQueue = DispatchQueue(label: "loader", target: queue)
        let handlerQueue = DispatchQueue(label: "handlers", target: queue)
        return Service(queueService(surroundings, on: (loaderQueue, handlerQueue)))
    }

    static let queueAsAsync = Subject(name: "the queue service as async, with an async loader") { surroundings in
        let loader = CallbackLoaderAdapter(of: surroundings.loader, executor: surroundings.run.executor)
        let service = queueService(surroundings, loader: loader)
        return Service(
            provider: .async(service),
            signIn: { service.signIn($0) },
            currentToken: { service.currentToken }
        )
    }

    static let queueAsAsyncAsCallback = Subject(name: "the queue service as async as callback", isByHandlers: true) {
        surroundings in
        let service = queueService(surroundings)
        return Service(service, as: CallbackServiceAdapter(of: service, handlersOn: surroundings.queue("view")))
    }

    /// The queue service, with all its queues as one unless two are given.
    private static func queueService(
        _ surroundings: Surroundings,
        loader: (any AccessTokenLoader)? = nil,
        on queues: (loader: any SerialQueue, handlers: any SerialQueue)? = nil,
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) -> AccessTokenService {
        let queue = surroundings.queue("queue")
        return AccessTokenService(
            loader: loader ?? surroundings.loader,
            policy: surroundings.policy,
            clock: surroundings.clock,
            loaderOn: queues?.loader ?? queue,
            handlersOn: queues?.handlers ?? queue,
            events: onEvent.map { EventDelivery(on: { queue.enqueue($0) }, to: $0) }
        )
    }
}
