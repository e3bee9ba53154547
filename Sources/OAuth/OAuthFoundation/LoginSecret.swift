import Foundation

/// What a login keeps secret, or makes unguessable.
package enum LoginSecret {
    /// 32 random bytes as 43 characters of Base64 for URLs: what RFC 7636, section 4.1, wants of a code verifier.
    package static func random() -> String {
        // The generator of the system is one for secrets. Each number is a call of the system.
        var generator = SystemRandomNumberGenerator()
        let numbers = (0..<4).map { _ in generator.next() as UInt64 }
        return base64URL(numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } })
    }

    /// The challenge of a code verifier by the method `S256` (RFC 7636, section 4.2).
    package static func challenge(of verifier: String) -> String { base64URL(SHA256.digest(Array(verifier.utf8))) }

    /// The left half of the digest of an access token: `at_hash` (OpenID Connect Core, section 3.1.3.6), for signatures
    /// that take SHA-256.
    package static func halfDigest(of token: String) -> String {
        base64URL(Array(SHA256.digest(Array(token.utf8)).prefix(16)))
    }

    /// Base64 with the alphabet for URLs, and without padding (RFC 7515, section 2).
    package static func base64URL(_ bytes: some Collection<UInt8>) -> String {
        let text = Data(bytes).base64EncodedData().prefix { $0 != UInt8(ascii: "=") }
        return String(
            decoding: text.map { byte in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: byte
                }
            },
            as: UTF8.self
        )
    }
}
