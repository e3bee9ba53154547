import Foundation

/// The members of a token endpoint's JSON that mean something (RFC 6749, sections 5.1 and 5.2).
///
/// It takes what servers really send: a number as a string, members that are `null`, empty or of another type, and
/// members that nobody knows.
struct TokenReplyMembers: Decodable {
    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case lifetime = "expires_in"
        case refreshToken = "refresh_token"
        case scope
        case error
        case explanation = "error_description"
    }

    /// Longer than any token lives, and small enough for every clock's arithmetic: a century.
    private static let longestLifetime: TimeInterval = 3_155_760_000

    let accessToken: String?
    let tokenType: String?
    /// Seconds, never negative; `nil` is good until it is rejected.
    let lifetime: TimeInterval?
    let refreshToken: String?
    let scope: String?
    let error: String?
    let explanation: String?
    /// There is an error, but it is not text.
    let hasStrangeError: Bool

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? {
            guard let text = try? members.decode(String.self, forKey: key), !text.isEmpty else { return nil }
            return text
        }
        accessToken = text(.accessToken)
        tokenType = text(.tokenType)
        refreshToken = text(.refreshToken)
        scope = text(.scope)
        error = text(.error)
        explanation = text(.explanation)
        hasStrangeError =
            members.contains(.error) && (try? members.decodeNil(forKey: .error)) != true
            && (try? members.decode(String.self, forKey: .error)) == nil
        let seconds = (try? members.decode(Double.self, forKey: .lifetime)) ?? text(.lifetime).flatMap(Double.init)
        lifetime = seconds.flatMap { $0.isNaN ? nil : min(max(0, $0), Self.longestLifetime) }
    }
}
