import Foundation
import OAuthFoundation

/// The text of one proof (RFC 9449, section 4.2); pure but for the key's signature.
enum Proof {
    /// The field in which a request has its proof, and of whose name the scheme is (RFC 9449, sections 4.1 and 7.1).
    static let field = "DPoP"

    /// By which every ``ProofKey`` signs (RFC 7518, section 3.4).
    static let algorithm = "ES256"

    private struct Claims: Encodable {
        let jti: String
        let htm: String
        let htu: String
        let iat: Int
        let ath: String?
        let nonce: String?
    }

    /// - Parameters:
    ///   - method: as it is sent.
    ///   - url: as it is sent.
    ///   - token: the access token that is sent beside the proof; `nil` at the token endpoint.
    ///   - nonce: the server's.
    ///   - now: the time by the server's clock, as far as it is known.
    ///   - id: must never be used twice (RFC 9449, section 11.1).
    static func text(
        by key: ProofKey,
        for method: String,
        _ url: URL,
        token: String?,
        nonce: String?,
        at now: Date,
        id: String = LoginSecret.random()
    ) throws -> String {
        let claims = Claims(
            jti: id,
            htm: method,
            htu: target(of: url),
            iat: Int(exactly: now.timeIntervalSince1970.rounded(.down)) ?? 0,
            ath: token.map(LoginSecret.challenge),
            nonce: nonce
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let head = #"{"alg":"\#(algorithm)","jwk":\#(key.jwk),"typ":"dpop+jwt"}"#
        let input = LoginSecret.base64URL(head.utf8) + "." + LoginSecret.base64URL(try encoder.encode(claims))
        return input + "." + LoginSecret.base64URL(try key.signature(of: Data(input.utf8)))
    }

    /// The URL without query and fragment.
    ///
    /// Nothing is written in another way: some servers compare the text. They see a path in each request (RFC 9110,
    /// section 4.2.3).
    static func target(of url: URL) -> String {
        let hasPath = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath.isEmpty == false
        return url.absoluteString.prefix { $0 != "?" && $0 != "#" } + (hasPath ? "" : "/")
    }
}
