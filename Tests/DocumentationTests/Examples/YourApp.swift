import Foundation
import Synchronization

/// Stands for an app's own request to its token endpoint; counts, for the tests.
final class YourEndpoint: Sendable {
    struct Token: Sendable {
        let value: String
        let expiresAt: Date
    }

    private let count = Atomic(0)

    var requests: Int { count.load(ordering: .relaxed) }

    func requestToken(then handler: @escaping @Sendable (Result<Token, any Error>) -> Void) {
        let token = nextToken()
        Task { handler(.success(token)) }
    }

    func requestToken() async throws -> Token {
        await Task.yield()
        return nextToken()
    }

    private func nextToken() -> Token {
        let number = count.add(1, ordering: .relaxed).newValue
        return Token(value: "token \(number)", expiresAt: Date.now + 3600)
    }
}

/// Stands for a server that wants a token, and accepts some of them only.
struct FriendsServer: Sendable {
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
