import Dispatch

// Nothing here knows the explorer, so that the tests can compile this file alone, with the thread sanitizer.

typealias TokenHandler = @Sendable (Result<Int, any Error>) -> Void

/// Brings a new token.
///
/// The handler is called on any thread.
protocol TokenLoader: Sendable {
    func load(then handler: @escaping TokenHandler)
}

protocol TokenRetrieving: AnyObject, Sendable {
    func retrieveToken(then handler: @escaping TokenHandler)
}

/// Version 1: looks for a token, and loads one if there is none.
// Not safe: callers on two threads touch `token` at the same time.
final class NaiveAccessTokenService: TokenRetrieving, @unchecked Sendable {
    private let loader: any TokenLoader
    private var token: Int?

    init(loader: any TokenLoader) {
        self.loader = loader
    }

    func retrieveToken(then handler: @escaping TokenHandler) {
        if let token {
            return handler(.success(token))
        }
        effect("finds no token")
        loader.load { result in
            self.token = try? result.get()
            effect("stores a token")
            handler(result)
        }
    }
}

/// Version 2: callers that come during a load wait in an array.
///
/// Right as long as one thread is all there is: then it is the whole answer, and needs no queue.
// Not safe: callers on two threads touch `pendingHandlers` at the same time.
final class PendingHandlersService: TokenRetrieving, @unchecked Sendable {
    private let loader: any TokenLoader
    private var token: Int?
    private var pendingHandlers: [TokenHandler] = []

    init(loader: any TokenLoader) {
        self.loader = loader
    }

    func retrieveToken(then handler: @escaping TokenHandler) {
        if let token {
            return handler(.success(token))
        }
        pendingHandlers.append(handler)
        effect("waits as number \(pendingHandlers.count)")
        guard pendingHandlers.count == 1 else { return }
        loader.load { result in self.handle(result) }
    }

    private func handle(_ result: Result<Int, any Error>) {
        token = try? result.get()
        let handlers = pendingHandlers
        pendingHandlers = []
        effect("answers \(handlers.count)")
        for handler in handlers { handler(result) }
    }
}

/// Version 3: the same on a serial queue, which the caller passes in.
///
/// A test can pass its own queue: when `queue.sync {}` returns, all earlier blocks of the queue have run.
// Safe: `token` and `pendingHandlers` are only touched on `queue`.
final class QueuedAccessTokenService: TokenRetrieving, @unchecked Sendable {
    private let loader: any TokenLoader
    private let queue: DispatchQueue
    private var token: Int?
    private var pendingHandlers: [TokenHandler] = []

    init(loader: any TokenLoader, queue: DispatchQueue) {
        self.loader = loader
        self.queue = queue
    }

    func retrieveToken(then handler: @escaping TokenHandler) {
        queue.async { self.performRetrieval(with: handler) }
    }

    private func performRetrieval(with handler: @escaping TokenHandler) {
        if let token {
            return handler(.success(token))
        }
        pendingHandlers.append(handler)
        guard pendingHandlers.count == 1 else { return }
        loader.load { result in
            self.queue.async { self.handle(result) }
        }
    }

    private func handle(_ result: Result<Int, any Error>) {
        token = try? result.get()
        let handlers = pendingHandlers
        pendingHandlers = []
        for handler in handlers { handler(result) }
    }
}
