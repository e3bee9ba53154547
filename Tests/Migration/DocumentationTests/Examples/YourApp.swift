import AccessTokenAsync
import AccessTokenSynchronization
import Foundation

/// Stands for an app's own requests to its token endpoint; counts them, for the tests.
nonisolated final class YourEndpoint: Sendable {
    struct Token: Sendable {
        let value: String
        let expiresAt: Date
        /// A server that does not rotate sends none at a renewal.
        let refreshToken: String?
    }

    enum Refusal: Error { case invalidGrant }

    private let count = Locked(0)
    private let rotates: Bool
    private let hasEnded: @Sendable (_ refreshToken: String) -> Bool

    init(rotates: Bool = true, hasEnded: @escaping @Sendable (_ refreshToken: String) -> Bool = { _ in false }) {
        self.rotates = rotates
        self.hasEnded = hasEnded
    }

    var requests: Int { count.withLock { $0 } }

    func requestToken() async throws -> Token {
        await Task.yield()
        return nextToken()
    }

    func exchange(_ refreshToken: String, then handler: @escaping @Sendable (Result<Token, any Error>) -> Void) {
        let token = nextToken()
        let result: Result<Token, any Error> =
            hasEnded(refreshToken) ? .failure(Refusal.invalidGrant) : .success(token)
        Task { handler(result) }
    }

    func exchange(_ refreshToken: String) async throws -> Token {
        let token = try await requestToken()
        if hasEnded(refreshToken) { throw Refusal.invalidGrant }
        return token
    }

    private func nextToken() -> Token {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return Token(
            value: "token \(number)",
            expiresAt: Date.now + 3600,
            refreshToken: rotates ? "refresh token \(number)" : nil
        )
    }
}

/// Stands for the place where an app keeps its tokens.
nonisolated final class YourKeychain: Sendable {
    private let stored: Locked<(refreshToken: String?, accessToken: AccessToken?)>

    init(refreshToken: String?, accessToken: AccessToken? = nil) {
        stored = Locked((refreshToken, accessToken))
    }

    var refreshToken: String? { stored.withLock { $0.refreshToken } }

    /// The access token of the last login; it may have expired.
    var accessToken: AccessToken? { stored.withLock { $0.accessToken } }

    /// Stores `new` if `old` is still there; with `nil`, removes `old` if it is still there.
    func replace(_ old: String, with new: String?) {
        stored.withLock { if $0.refreshToken == old { $0 = (new, nil) } }
    }

    func store(_ refreshToken: String?, _ accessToken: AccessToken? = nil) {
        stored.withLock { $0 = (refreshToken, accessToken) }
    }

    func removeTokens() {
        stored.withLock { $0 = (nil, nil) }
    }
}

/// Stands for a server that wants a token, and accepts some of them only.
nonisolated struct FriendsServer: Sendable {
    struct Reply: Sendable {
        let status: Int
        let friends: [String]
    }

    var accepts: @Sendable (_ bearer: String) -> Bool = { _ in true }

    func friends(bearer: String, then handler: @escaping @Sendable (Result<Reply, any Error>) -> Void) {
        let reply = reply(to: bearer)
        Task { handler(.success(reply)) }
    }

    func friends(bearer: String) async throws -> Reply {
        await Task.yield()
        return reply(to: bearer)
    }

    private func reply(to bearer: String) -> Reply {
        accepts(bearer) ? Reply(status: 200, friends: ["a friend, for \(bearer)"]) : Reply(status: 401, friends: [])
    }
}
