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
    private(set) var refreshToken: String?
    let scope: String?
    let error: String?
    let explanation: String?
    /// There is an error, but it is not text.
    let hasStrangeError: Bool
    /// There is a refresh token, but it is not text: the one that was sent may be spent.
    private(set) var hasStrangeRefreshToken: Bool

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
        func isStrange(_ key: CodingKeys) -> Bool {
            members.contains(key) && (try? members.decodeNil(forKey: key)) != true
                && (try? members.decode(String.self, forKey: key)) == nil
        }
        // Some servers write `false` or an empty array where there is none, and a zero for no error.
        func isNone(_ key: CodingKeys) -> Bool {
            (try? members.decode(Bool.self, forKey: key)) == false
                || (try? members.nestedUnkeyedContainer(forKey: key))?.isAtEnd == true
        }
        let isZero = (try? members.decode(Int.self, forKey: .error)) == 0
        hasStrangeError = isStrange(.error) && !isNone(.error) && !isZero
        hasStrangeRefreshToken = isStrange(.refreshToken) && !isNone(.refreshToken)
        let seconds = (try? members.decode(Double.self, forKey: .lifetime)) ?? text(.lifetime).flatMap(Self.number)
        lifetime = seconds.flatMap { $0.isNaN ? nil : min(max(0, $0), Self.longestLifetime) }
    }

    /// Swift reads hexadecimal numbers as well; RFC 6749, appendix A.14, has decimal ones only.
    private static func number(_ text: String) -> Double? {
        text.contains { "xX".contains($0) } ? nil : Double(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    static let refreshTokenName = CodingKeys.refreshToken.rawValue

    /// Takes a refresh token that is a number, which is as good as text once its digits are known.
    mutating func takeNumber(_ json: String?) {
        guard let json, let value = Double(json), value.isFinite else { return }
        refreshToken = json
        hasStrangeRefreshToken = false
    }

    /// Whether a name is one of those above.
    static func knows(_ name: String) -> Bool { CodingKeys(rawValue: name) != nil }
}
