import AccessTokenAsync
import AccessTokenCore
import Foundation

/// The articles' actor: every call enters it, also when the token is there.
actor PlainActor {
    private var cached: AccessToken?
    private var load: Task<AccessToken, any Error>?
    private let loader: any AsyncAccessTokenLoader

    init(_ token: AccessToken?, loader: any AsyncAccessTokenLoader) {
        cached = token
        self.loader = loader
    }

    func token() async throws -> AccessToken {
        if let cached, cached.expiration.map({ systemNow() < $0 }) ?? true { return cached }
        if let load { return try await load.value }
        let load = Task { try await loader.load(replacing: cached) }
        self.load = load
        defer { self.load = nil }
        let token = try await load.value
        cached = token
        return token
    }
}

/// The usual way to make waiters cancellable one by one: an actor that keeps their continuations in a dictionary.
actor ContinuationDictionary {
    private let loader: any AsyncAccessTokenLoader
    private let executor: (any TaskExecutor)?
    private var waiters: [UUID: CheckedContinuation<AccessToken, any Error>] = [:]
    private var cancelledEarly: Set<UUID> = []
    private var isLoading = false

    init(loader: any AsyncAccessTokenLoader, executor: (any TaskExecutor)?) {
        self.loader = loader
        self.executor = executor
    }

    func token() async throws -> AccessToken {
        if !isLoading {
            isLoading = true
            Task(executorPreference: executor) {
                do {
                    await self.finish(.success(try await self.loader.load(replacing: nil)))
                } catch {
                    await self.finish(.failure(error))
                }
            }
        }
        let id = UUID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard cancelledEarly.remove(id) == nil else {
                    return continuation.resume(throwing: CancellationError())
                }
                waiters[id] = continuation
            }
        } onCancel: {
            Task(executorPreference: executor) { await self.cancel(id) }
        }
    }

    private func cancel(_ id: UUID) {
        guard let waiter = waiters.removeValue(forKey: id) else {
            cancelledEarly.insert(id)
            return
        }
        waiter.resume(throwing: CancellationError())
    }

    private func finish(_ result: Result<AccessToken, any Error>) {
        isLoading = false
        let finished = waiters
        waiters = [:]
        for waiter in finished.values { waiter.resume(with: result) }
    }
}
