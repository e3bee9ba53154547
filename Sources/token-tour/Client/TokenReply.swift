import Foundation

/// The token endpoint's JSON, good or bad (RFC 6749, sections 5.1 and 5.2).
///
/// It takes what servers really send: a number as a string, members that are `null` or of the wrong
/// type, members that nobody knows.
struct TokenReply: Decodable {
    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case lifetime = "expires_in"
        case refreshToken = "refresh_token"
        case error
    }

    /// A year: more than any access token lives, and small enough for every calendar.
    private static let longestLifetime = 31_536_000.0

    let accessToken: String?
    let tokenType: String?
    /// Seconds; `nil` is good until it is rejected.
    let lifetime: TimeInterval?
    let refreshToken: String?
    let error: String?

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? {
            guard let text = try? members.decode(String.self, forKey: key), !text.isEmpty else { return nil }
            return text
        }
        accessToken = text(.accessToken)
        tokenType = text(.tokenType)
        refreshToken = text(.refreshToken)
        error = text(.error)
        let seconds = (try? members.decode(Double.self, forKey: .lifetime)) ?? text(.lifetime).flatMap(Double.init)
        lifetime = seconds.flatMap { $0.isNaN ? nil : min(max($0, 0), Self.longestLifetime) }
    }

    /// The access token, if it is one that a header can carry (RFC 6750, section 2.1).
    var bearerToken: String? {
        guard let accessToken, tokenType?.lowercased() == "bearer",
            accessToken.utf8.allSatisfy({ (33...126).contains($0) })
        else { return nil }
        return accessToken
    }
}
