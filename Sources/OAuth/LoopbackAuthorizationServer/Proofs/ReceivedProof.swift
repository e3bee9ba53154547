import Foundation
import OAuthFoundation

/// A proof as it came, before anything of it is believed (RFC 9449, section 4.2).
struct ReceivedProof {
    struct Head: Decodable {
        struct Key: Decodable {
            let kty: String
            let crv: String
            let x: String
            let y: String
            /// A private key, which no proof may have.
            let d: String?
        }

        let typ: String
        let alg: String
        let jwk: Key
    }

    struct Claims: Decodable {
        let jti: String
        let htm: String
        let htu: String
        let iat: Double
        let ath: String?
        let nonce: String?
    }

    let head: Head
    let claims: Claims
    /// What was signed.
    let message: Data
    let signature: Data

    /// `nil` for what is no JWT with the members of a proof.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Self.decoded(parts[0]), let claims = Self.decoded(parts[1]),
            let signature = Self.decoded(parts[2]),
            let readHead = try? JSONDecoder().decode(Head.self, from: head),
            let readClaims = try? JSONDecoder().decode(Claims.self, from: claims)
        else { return nil }
        (self.head, self.claims, self.signature) = (readHead, readClaims, signature)
        message = Data((parts[0] + "." + parts[1]).utf8)
    }

    /// 4, x and y; `nil` if the key is on another curve, or of another length.
    var publicKey: Data? {
        guard head.jwk.kty == "EC", head.jwk.crv == "P-256", let x = Self.decoded(head.jwk.x[...]), x.count == 32,
            let y = Self.decoded(head.jwk.y[...]), y.count == 32
        else { return nil }
        return [4] + x + y
    }

    /// RFC 7638, section 3.
    var thumbprint: String {
        LoginSecret.challenge(of: #"{"crv":"P-256","kty":"EC","x":"\#(head.jwk.x)","y":"\#(head.jwk.y)"}"#)
    }

    /// Base64 for URLs, in the one way in which it is written.
    private static func decoded(_ text: Substring) -> Data? {
        let usual = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let data = Data(base64Encoded: usual + String(repeating: "=", count: (4 - usual.utf8.count % 4) % 4))
        return data.flatMap { LoginSecret.base64URL($0) == text ? $0 : nil }
    }
}
