import AccessTokenCore
import AccessTokenSynchronization
import Foundation

/// The lower limit of a hit: a token and its expiration under a lock, and one reading of the clock.
final class LockAndClock: Sendable {
    private let cached: Locked<(token: AccessToken, until: Date)>

    init(_ token: AccessToken) {
        cached = Locked((token, token.expiration ?? .distantFuture))
    }

    var token: AccessToken? {
        let now = systemNow()
        return cached.withLock { now < $0.until ? $0.token : nil }
    }
}
