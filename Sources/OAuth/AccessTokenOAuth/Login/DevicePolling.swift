import Foundation

/// Decides when to ask the token endpoint again about a device code, and when not (RFC 8628, section 3.5); pure.
struct DevicePolling {
    /// Seconds that the interval grows by when the server is asked too often.
    private static let slowDown: TimeInterval = 5

    /// Replies in a row that nobody understands, after which the wait is over.
    private static let mostRiddles = 3

    /// Seconds: a code lives for minutes, and the user waits in front of the screen.
    private static let longestPause: TimeInterval = 120

    private var interval: TimeInterval
    private var failures = 0
    private var riddles = 0
    /// Whether the server has a word for "not yet".
    private var hasSaidPending = false

    /// What ends the login when the code's life does: with what the server says in place of "not yet".
    private(set) var expired = LoginError.deviceCodeExpired

    init(interval: TimeInterval) { self.interval = interval }

    /// Seconds to wait before the next request; throws what ends the login.
    mutating func pause(after error: OAuthError) throws -> TimeInterval {
        // The server has issued a token for the code, and takes it no second time.
        guard !error.hasUnusableToken else { throw error }
        let isRiddle = error.code == nil && !error.isTransient && !error.isConfigurationMistake
        riddles = isRiddle ? riddles + 1 : 0
        switch error.meaning {
        case .notYet:
            hasSaidPending = true
            expired = .deviceCodeExpired
            return steady()
        case .denied: throw LoginError.serverRefused("access_denied", explanation: error.serverExplanation)
        case .codeExpired: throw expired
        case .sessionEnded:
            // Some servers have no word for "not yet", and say this until the user has agreed.
            guard !hasSaidPending else { throw expired }
            return steady(after: error)
        default: break
        }
        if error.isAskedTooOften {
            hasSaidPending = hasSaidPending || error.code == "slow_down"
            return max(slower(), error.retryAfter ?? 0)
        }
        if isRiddle {
            switch error.status {
            // The server has no word for "not yet", and the user may still agree: the code's own life ends the wait.
            case 400, 403, 428: return steady(after: error)
            case 410: throw expired
            default: break
            }
        }
        guard error.isTransient || (isRiddle && riddles < Self.mostRiddles) else { throw error }
        // RFC 8628 asks for an exponential backoff when there is no connection.
        failures += 1
        let longer = min(interval * pow(2, Double(min(failures, 10))), Self.longestPause)
        return max(interval, longer, error.retryAfter ?? 0)
    }

    /// - Parameter refusal: perhaps the server's way to say "not yet", or else that this login cannot succeed.
    private mutating func steady(after refusal: OAuthError) -> TimeInterval {
        expired = .deviceCodeExpired(after: refusal)
        return steady()
    }

    private mutating func steady() -> TimeInterval {
        failures = 0
        return interval
    }

    private mutating func slower() -> TimeInterval {
        failures = 0
        interval = min(interval + Self.slowDown, Self.longestPause)
        return interval
    }
}
