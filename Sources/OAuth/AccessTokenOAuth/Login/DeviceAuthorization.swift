import Foundation

/// What the device authorization endpoint answers (RFC 8628, section 3.2).
///
/// It is read as leniently as a token reply: names in another spelling, numbers as text, a form.
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
    private static let longestLifetime: TimeInterval = 86_400
    private static let longestUserCode = 64

    /// The members that mean something here; servers that are older than the RFC write `url`, and `code`.
    private static let known: Set = [
        "device_code", "code", "user_code", "verification_uri", "verification_url", "verification_uri_complete",
        "verification_url_complete", "expires_in", "interval",
    ]

    static func read(
        _ reply: TokenEndpointReply,
        hiding secrets: [String]
    ) -> Result<DeviceAuthorization, LoginError> {
        let members = JSONMembers(reading: reply.body)
        let names = members?.spellings(of: known) ?? [:]
        func value(_ name: String) -> JSONMembers.Value? { members?[names[name] ?? name] }
        func text(_ candidates: String...) -> String? {
            candidates.lazy.compactMap { name in
                switch value(name) {
                case .text(let text) where !text.isEmpty: text
                case .number(let digits): digits
                default: nil
                }
            }.first
        }
        let userCode = text("user_code")
        // Without a code for the user, a `code` is that of an error.
        let deviceCode = text("device_code") ?? (userCode == nil ? nil : text("code"))
        guard (200...299).contains(reply.status), let deviceCode else {
            let error = TokenReplyReader(secrets: secrets).read(reply).error
            if let error, error.code != nil || !(200...299).contains(reply.status) {
                return .failure(.failed(.deviceEndpoint, error))
            }
            return notUnderstood(reply, "it has no device_code")
        }
        // What a terminal is to show must not be able to write on it.
        guard let userCode, userCode.utf8.count <= longestUserCode, userCode == SentSecrets.printable(userCode) else {
            return notUnderstood(reply, "it has no user_code that can be shown")
        }
        guard let url = text("verification_uri", "verification_url").flatMap({ URL(string: $0) }) else {
            return notUnderstood(reply, "it has no verification_uri")
        }
        return .success(
            DeviceAuthorization(
                deviceCode: deviceCode,
                userCode: userCode,
                verificationURL: url,
                completeVerificationURL: text("verification_uri_complete", "verification_url_complete")
                    .flatMap { URL(string: $0) },
                lifetime: lifetime(seconds(value("expires_in"))),
                interval: seconds(value("interval")).flatMap { $0 < 0 ? nil : min(max($0, 1), 120) } ?? usualInterval
            )
        )
    }

    /// A negative number is what servers write for a code that does not expire; none would be a usual life.
    private static func lifetime(_ seconds: TimeInterval?) -> TimeInterval {
        guard let seconds else { return usualLifetime }
        return seconds < 0 ? longestLifetime : min(max(seconds, 1), longestLifetime)
    }

    private static func seconds(_ value: JSONMembers.Value?) -> TimeInterval? {
        let seconds: Double? =
            switch value {
            case .number(let digits), .text(let digits): Double(digits)
            default: nil
            }
        return seconds.flatMap { $0.isFinite ? $0 : nil }
    }

    private static func notUnderstood(
        _ reply: TokenEndpointReply,
        _ what: String
    ) -> Result<DeviceAuthorization, LoginError> {
        .failure(.strangeReply(.deviceEndpoint, status: reply.status, what))
    }
}
