import Dispatch

// Nothing here knows the explorer: the tests can compile this file alone, with the thread sanitizer.

struct CachedToken: Sendable {
    let value: Int
    let isValid: Bool
}

typealias TokenHandler = @Sendable (Result<CachedToken, any Error>) -> Void

/// Brings a new token.
///
/// The handler is called on any thread.
protocol TokenLoader: Sendable {
    func load(then handler: @escaping TokenHandler)
}

protocol TokenRetrieving: AnyObject, Sendable {
    func retrieveToken(then handler: @escaping TokenHandler)
}

/// Version 1: looks for a valid token, and loads one if there is none.
// Not safe: callers on two threads touch `token` at the same time.
final class AccessTokenServiceVersion1: TokenRetrieving, @unchecked Sendable {
    private let loader: any TokenLoader
    private var token: CachedToken?

    init(loader: any TokenLoader) {
        self.loader = loader
    }

    func retrieveToken(then handler: @escaping TokenHandler) {
        if let token, token.isValid { return handler(.success(token)) }
        effect("finds no valid token")
        loader.load { [weak self] result in
            self?.token = try? result.get()
            handler(result)
        }
    }
}

/// Version 2: callers that come during a load wait in an array.
///
/// It is right, and needs no queue, where all callers and the loader's answers are on one thread.
// Not safe: callers on two threads touch `pendingHandlers` at the same time.
final class AccessTokenServiceVersion2: TokenRetrieving, @unchecked Sendable {
    private let loader: any TokenLoader
    private var token: CachedToken?
    private var pendingHandlers: [TokenHandler] = []

    init(loader: any TokenLoader) {
        self.loader = loader
    }

    func retrieveToken(then handler: @escaping TokenHandler) {
        if let token, token.isValid { return handler(.success(token)) }
        pendingHandlers.append(handler)
        effect("waits as number \(pendingHandlers.count)")
        guard pendingHandlers.count == 1 else { return }
        loader.load { [weak self] result in self?.handle(result) }
    }

    private func handle(_ result: Result<CachedToken, any Error>) {
        token = try? result.get()
        let handlers = pendingHandlers
        pendingHandlers = []
        for handler in handlers { handler(result) }
    }
}

/// Version 3: the same on a serial queue, which a test can pass in.
// Safe: `token` and `pendingHandlers` are touched on `queue` only.
final class AccessTokenServiceVersion3: TokenRetrieving, @unchecked Sendable {
    private let loader: any TokenLoader
    private let queue: DispatchQueue
    private var token: CachedToken?
    private var pendingHandlers: [TokenHandler] = []

    init(loader: any TokenLoader, queue: DispatchQueue = DispatchQueue(label: "AccessToken")) {
        self.loader = loader
        self.queue = queue
    }

    func retrieveToken(then handler: @escaping TokenHandler) {
        queue.async { [weak self] in self?.performRetrieval(with: handler) }
    }

    private func performRetrieval(with handler: @escaping TokenHandler) {
        if let token, token.isValid { return handler(.success(token)) }
        pendingHandlers.append(handler)
        guard pendingHandlers.count == 1 else { return }
        loader.load { [weak self] result in
            self?.queue.async { self?.handle(result) }
        }
    }

    private func handle(_ result: Result<CachedToken, any Error>) {
        token = try? result.get()
        let handlers = pendingHandlers
        pendingHandlers = []
        for handler in handlers { handler(result) }
    }
}
