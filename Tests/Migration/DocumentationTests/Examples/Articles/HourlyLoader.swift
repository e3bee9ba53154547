import AccessTokenAdapters
import AccessTokenCore
import Foundation

/// Loads `token 1`, `token 2`, …, each of them valid for an hour.
final class HourlyLoader: AccessTokenLoader, AsyncAccessTokenLoader {
    private let clock: any AccessTokenClock
    private let count = Locked(0)

    init(clock: any AccessTokenClock) {
        self.clock = clock
    }

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        handler(.success(nextToken()))
    }

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        nextToken()
    }

    private func nextToken() -> AccessToken {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return AccessToken(value: "token \(number)", expiration: clock.now.addingTimeInterval(3600))
    }
}
