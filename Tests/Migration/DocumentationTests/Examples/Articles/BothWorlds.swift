import AccessTokenAdapters
import Dispatch

nonisolated struct Tokens: Sendable {
    let service: AsyncAccessTokenService  // owns the cache
    let legacyService: CallbackServiceAdapter  // for callback code

    init(loader: any AccessTokenLoader) {
        service = AsyncAccessTokenService(loader: AsyncLoaderAdapter(of: loader))
        legacyService = CallbackServiceAdapter(of: service, handlerQueue: .main)
    }
}

enum BothWorlds {
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    actor Profile {
        private let queue: DispatchQueueExecutor
        private(set) var name = ""

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe queue.asUnownedSerialExecutor() }

        init(on queue: DispatchQueue) {
            self.queue = DispatchQueueExecutor(queue: queue)
        }

        func rename(to name: String) { self.name = name }
    }
}
