import AccessTokenAsync
import AccessTokenCore
import Foundation
import Synchronization

/// The lower limit: a token and its expiration under a lock, and one reading of the clock.
final class MutexSnapshot: Sendable {
    private let cached: Mutex<(token: AccessToken, until: Date)?>

    init(_ token: AccessToken) {
        cached = Mutex((token, token.expiration ?? .distantFuture))
    }

    func token() -> AccessToken? {
        let now = systemNow()
        return cached.withLock { cached in
            guard let cached, now < cached.until else { return nil }
            return cached.token
        }
    }
}

/// The lowest cost of an awaited call through a protocol.
protocol AwaitedSnapshot: Sendable {
    nonisolated(nonsending) func awaitedToken() async throws -> AccessToken
}

struct NoToken: Error {}

extension MutexSnapshot: AwaitedSnapshot {
    nonisolated(nonsending) func awaitedToken() async throws -> AccessToken {
        guard let token = token() else { throw NoToken() }
        return token
    }
}

/// A second implementation, without which the optimizer would replace the call through the protocol by a direct call.
struct EmptySnapshot: AwaitedSnapshot {
    nonisolated(nonsending) func awaitedToken() async throws -> AccessToken { throw NoToken() }
}
