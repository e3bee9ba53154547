import AccessTokenCore
import AccessTokenGCD
import AccessTokenSynchronization
import Dispatch
import Foundation

/// Sundell's service: a queue, and an array of pending handlers.
///
/// Its `[weak self]` in the loader's callback is left out: with it a service that is released loses its handlers.
// Safe: everything but the queue and the loader is only touched on the queue.
final class SundellService: @unchecked Sendable {
    private let loader: any AccessTokenLoader
    private let queue: DispatchQueue
    private var pendingHandlers: [AccessTokenHandler] = []
    private var token: AccessToken?

    init(loader: any AccessTokenLoader, queue: DispatchQueue) {
        self.loader = loader
        self.queue = queue
    }

    func retrieveToken(then handler: @escaping AccessTokenHandler) {
        queue.async { [weak self] in self?.performRetrieval(with: handler) }
    }

    private func performRetrieval(with handler: @escaping AccessTokenHandler) {
        if let token, token.expiration.map({ systemNow() < $0 }) ?? true {
            return handler(.success(token))
        }
        pendingHandlers.append(handler)
        guard pendingHandlers.count == 1 else { return }
        loader.load(replacing: token) { result in
            self.queue.async { self.handle(result) }
        }
    }

    private func handle(_ result: Result<AccessToken, any Error>) {
        token = try? result.get()
        let handlers = pendingHandlers
        pendingHandlers = []
        for handler in handlers { handler(result) }
    }
}
