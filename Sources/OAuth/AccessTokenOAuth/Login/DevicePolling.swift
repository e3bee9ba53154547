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

    init(interval: TimeInterval) { self.interval = interval }

    /// Seconds to wait before the next request; throws what ends the login.
    mutating func pause(after error: OAuthError) throws -> TimeInterval {
        // The server has issued a token for the code, and takes it no second time.
        guard !error.hasUnusableToken else { throw error }
        let isRiddle = error.code == nil && !error.isTransient && !error.isConfigurationMistake
        riddles = isRiddle ? riddles + 1 : 0
        switch error.code {
        case "authorization_pending":
            hasSaidPending = true
            return steady()
        case "slow_down":
            hasSaidPending = true
            return max(slower(), error.retryAfter ?? 0)
        case "access_denied", "authorization_declined":
            throw LoginError.serverRefused("access_denied", explanation: error.serverExplanation)
        case "expired_token", "code_expired": throw LoginError.deviceCodeExpired
        case "invalid_grant":
            // Some servers have no word for "not yet", and say this until the user has agreed.
            guard !hasSaidPending else { throw LoginError.deviceCodeExpired }
            return steady()
        default: break
        }
        if error.logCode == "http_429" { return max(slower(), error.retryAfter ?? 0) }
        guard error.isTransient || (isRiddle && riddles < Self.mostRiddles) else { throw error }
        // RFC 8628 asks for an exponential backoff when there is no connection.
        failures += 1
        let longer = min(interval * pow(2, Double(min(failures, 10))), Self.longestPause)
        return max(interval, longer, error.retryAfter ?? 0)
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

/// What the device authorization endpoint answers (RFC 8628, section 3.2).
struct DeviceAuthorization: Sendable {
    let deviceCode: String
    let userCode: String
    let verificationURL: URL
    let completeVerificationURL: URL?
    /// Seconds.
    let lifetime: TimeInterval
    /// Seconds.
    let interval: TimeInterval

    private static let usualInterval: TimeInterval = 5
    private static let usualLifetime: TimeInterval = 900
    private static let longestUserCode = 64

    static func read(
        _ reply: TokenEndpointReply,
        hiding secrets: [String]
    ) -> Result<DeviceAuthorization, LoginError> {
        let members = JSONMembers(of: reply.body)
        func text(_ name: String) -> String? {
            if case .text(let text) = members?[name], !text.isEmpty { text } else { nil }
        }
        guard (200...299).contains(reply.status), let deviceCode = text("device_code") else {
            if let error = TokenReplyReader(secrets: secrets).read(reply).error,
                !(200...299).contains(reply.status) || text("error") != nil
            {
                return .failure(.failed(.deviceEndpoint, error))
            }
            return notUnderstood(reply, "it has no device_code")
        }
        // What a terminal is to show must not be able to write on it.
        guard let userCode = text("user_code"), userCode.utf8.count <= longestUserCode,
            userCode == SentSecrets.printable(userCode)
        else { return notUnderstood(reply, "it has no user_code that can be shown") }
        // Servers that are older than the RFC write `url`.
        guard let url = (text("verification_uri") ?? text("verification_url")).flatMap({ URL(string: $0) }) else {
            return notUnderstood(reply, "it has no verification_uri")
        }
        let complete = text("verification_uri_complete") ?? text("verification_url_complete")
        return .success(
            DeviceAuthorization(
                deviceCode: deviceCode,
                userCode: userCode,
                verificationURL: url,
                completeVerificationURL: complete.flatMap { URL(string: $0) },
                lifetime: seconds(members?["expires_in"], in: 1...86_400) ?? usualLifetime,
                interval: seconds(members?["interval"], in: 1...120) ?? usualInterval
            )
        )
    }

    private static func seconds(_ value: JSONMembers.Value?, in range: ClosedRange<Double>) -> TimeInterval? {
        let seconds: Double? =
            switch value {
            case .number(let digits), .text(let digits): Double(digits)
            default: nil
            }
        guard let seconds, seconds.isFinite, seconds >= 0 else { return nil }
        return min(max(seconds, range.lowerBound), range.upperBound)
    }

    private static func notUnderstood(
        _ reply: TokenEndpointReply,
        _ what: String
    ) -> Result<DeviceAuthorization, LoginError> {
        .failure(.strangeReply(.deviceEndpoint, status: reply.status, what))
    }
}
