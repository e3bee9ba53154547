import AccessTokenGCD
import Dispatch
import Synchronization

/// A way for callers with callbacks to wait for one load together.
protocol CallbackDesign: Sendable {
    static var name: String { get }

    init(loader: any AccessTokenLoader, queue: DispatchQueue)
    func retrieve(then handler: @escaping AccessTokenHandler)
}

/// Sundell's queue and array.
struct SundellDesign: CallbackDesign {
    static let name = "Sundell's array"
    private let service: SundellService

    init(loader: any AccessTokenLoader, queue: DispatchQueue) {
        service = SundellService(loader: loader, queue: queue)
    }

    func retrieve(then handler: @escaping AccessTokenHandler) { service.retrieveToken(then: handler) }
}

/// The queue service of this package.
struct QueueServiceDesign: CallbackDesign {
    static let name = "AccessTokenService"
    private let service: AccessTokenService

    init(loader: any AccessTokenLoader, queue: DispatchQueue) {
        service = AccessTokenService(loader: loader, policy: AccessTokenPolicy(loadDeadline: nil), queue: queue)
    }

    func retrieve(then handler: @escaping AccessTokenHandler) { service.retrieveToken(then: handler) }
}

/// The least that handlers cost which are called on a queue: an array, and one block that calls all of them.
final class HandlerArrayDesign: CallbackDesign {
    static let name = "bare array and queue.async"
    private let queue: DispatchQueue
    private let handlers = Mutex<[AccessTokenHandler]>([])

    init(loader: any AccessTokenLoader, queue: DispatchQueue) {
        self.queue = queue
        loader.load(replacing: nil) { [self] result in
            let waiting = handlers.withLock { handlers in
                defer { handlers = [] }
                return handlers
            }
            self.queue.async { for handler in waiting { handler(result) } }
        }
    }

    func retrieve(then handler: @escaping AccessTokenHandler) { handlers.withLock { $0.append(handler) } }
}
