import AccessTokenAdapters
import Dispatch

enum BothWorlds {
    static func queueForBoth(
        loader: any AccessTokenLoader,
        show: @escaping @Sendable (Result<AccessToken, any Error>) -> Void
    ) async throws -> AccessToken {
        let service = AccessTokenService(loader: loader, queue: .main)

        func legacyScreen() {
            service.retrieveToken { result in show(result) }
        }

        func newScreen() async throws -> AccessToken {
            try await service.token()
        }

        legacyScreen()
        return try await newScreen()
    }

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
