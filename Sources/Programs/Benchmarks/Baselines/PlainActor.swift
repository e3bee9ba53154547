import AccessTokenAsync
import AccessTokenCore
import AccessTokenSynchronization

/// The articles' actor: every call enters it, also when the token is there, and all callers share one task.
actor PlainActor {
    private var cached: AccessToken?
    private var load: Task<AccessToken, any Error>?
    private let loader: any AsyncAccessTokenLoader

    init(_ token: AccessToken? = nil, loader: any AsyncAccessTokenLoader) {
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
