import Foundation

/// Reads what an ID token says of its user, without a look at its signature.
enum IDToken {
    /// The `sub` of the ID token among the members of a response; `nil` if there is no ID token, or an encrypted one.
    static func subject(_ members: [String: String]) -> String? {
        let parts = (members["id_token"] ?? "").split(separator: ".", omittingEmptySubsequences: false)
        // A signed token has three parts (RFC 7515, section 7.1), and an encrypted one five.
        guard parts.count == 3, let claims = decoded(parts[1]).flatMap(JSONMembers.init(of:)),
            case .text(let subject) = claims["sub"], !subject.isEmpty
        else { return nil }
        return subject
    }

    /// Base64 with the alphabet for URLs, and without padding (RFC 7515, section 2).
    private static func decoded(_ text: Substring) -> Data? {
        let usual = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: usual + String(repeating: "=", count: (4 - usual.utf8.count % 4) % 4))
    }
}
