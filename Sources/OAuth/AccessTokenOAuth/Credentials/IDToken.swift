import Foundation

/// What an ID token says (OpenID Connect Core, section 2), without a look at its signature.
struct IDToken: Sendable {
    let issuer: String?
    let subject: String?
    let audience: [String]
    /// The client that it was issued to, where that is not the only one of the audience.
    let party: String?
    let expiration: Date?
    let nonce: String?
    let accessTokenHash: String?
    /// How it is signed (RFC 7518, section 3.1).
    let algorithm: String?

    /// `nil` for what is no signed token, which has three parts (RFC 7515, section 7.1); an encrypted one has five.
    init?(_ token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let claims = Self.members(parts[1]) else { return nil }
        func text(_ name: String) -> String? {
            if case .text(let text) = claims[name], !text.isEmpty { text } else { nil }
        }
        issuer = text("iss")
        subject = text("sub")
        party = text("azp")
        nonce = text("nonce")
        accessTokenHash = text("at_hash")
        audience = claims.texts("aud") ?? []
        switch claims["exp"] {
        case .number(let digits), .text(let digits):
            expiration = Double(digits).flatMap { $0.isFinite ? Date(timeIntervalSince1970: $0) : nil }
        default: expiration = nil
        }
        algorithm = if case .text(let name) = Self.members(parts[0])?["alg"] { name } else { nil }
    }

    /// The `sub` of the ID token among the members of a response; `nil` if there is no ID token, or an encrypted one.
    static func subject(_ members: [String: String]) -> String? { members["id_token"].flatMap(IDToken.init)?.subject }

    private static func members(_ part: Substring) -> JSONMembers? { decoded(part).flatMap(JSONMembers.init(of:)) }

    /// Base64 with the alphabet for URLs, and without padding (RFC 7515, section 2).
    private static func decoded(_ text: Substring) -> Data? {
        let usual = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: usual + String(repeating: "=", count: (4 - usual.utf8.count % 4) % 4))
    }
}
