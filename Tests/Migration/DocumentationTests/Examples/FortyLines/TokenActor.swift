import AccessTokenContract
import Foundation

actor TokenActor {
    struct SignedOut: Error {}

    private let now: @Sendable () -> Date
    private let request: @Sendable () async throws -> AccessToken
    private var token: AccessToken?
    private var refresh: Task<AccessToken, any Error>?
    private var isSignedOut = false

    init(now: @escaping @Sendable () -> Date, request: @escaping @Sendable () async throws -> AccessToken) {
        self.now = now
        self.request = request
    }

    func validToken() async throws -> AccessToken {
        if isSignedOut { throw SignedOut() }
        if let token, (token.expiration ?? .distantFuture) > now() { return token }
        if let refresh { return try await refresh.value }
        let task = Task { try await request() }
        refresh = task
        defer { refresh = nil }
        let new = try await task.value
        token = new
        return new
    }

    func reject(_ rejected: AccessToken) {
        if token == rejected { token = nil }
    }

    func signIn(_ new: AccessToken) {
        isSignedOut = false
        token = new
    }

    func signOut() {
        isSignedOut = true
        refresh?.cancel()
        refresh = nil
        token = nil
    }
}

let tokenActorSubject = ContractSubject(
    "forty lines",
    features: [.asyncCallers, .expiry, .invalidation, .signIn, .signOut]
) { fixture in
    let tokens = TokenActor(now: { fixture.clock.now }) {
        try await fixture.loader.load(replacing: nil)
    }
    return .awaiting {
        try await tokens.validToken()
    } invalidate: { token in
        await tokens.reject(token)
    } signIn: { token in
        await tokens.signIn(token)
    } signOut: {
        await tokens.signOut()
    }
}
