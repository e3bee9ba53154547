public import Foundation
import OAuthFoundation

/// The key of one session, for proofs of possession (DPoP, RFC 9449): a key pair on the curve P-256.
///
/// ``ProofKeys`` makes such keys and reads them again. No key of this type has to be made for CryptoKit or OpenSSL.
///
/// It never prints what is stored.
public struct ProofKey: Sendable {
    /// What a record keeps of the key.
    let stored: Data

    /// The public key as a JSON Web Key, with its members in the order that RFC 7638, section 3.3, wants.
    let jwk: String

    private let makeSignature: @Sendable (Data) throws -> Data

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - stored: what the credential's record keeps, and what ``ProofKeys`` reads: the key itself (PKCS #8), what a
    ///     Secure Enclave needs to find it, or its name in a place of the app's own.
    ///   - publicKey: 65 bytes: 4, x and y (SEC 1, section 2.3.3). CryptoKit calls that `x963Representation`.
    ///   - sign: signs by ES256 (RFC 7518, section 3.4): ECDSA with SHA-256. It returns the 64 bytes of r and s, which
    ///     CryptoKit calls `rawRepresentation`. It is called on any thread, for each proof, and must not ask the user.
    ///     Its error reaches the caller of the request unchanged, and nothing is sent.
    /// - Throws: ``OAuthError`` if the public key is of another form.
    public init(
        stored: Data,
        publicKey: Data,
        sign: @escaping @Sendable (_ message: Data) throws -> Data
    ) throws(OAuthError) {
        guard publicKey.count == 65, publicKey.first == 4 else {
            throw .unusableProofKey("its public key has \(publicKey.count) bytes, and not 4, x and y in 65 bytes")
        }
        self.stored = stored
        let (x, y) = (publicKey.dropFirst().prefix(32), publicKey.suffix(32))
        jwk = #"{"crv":"P-256","kty":"EC","x":"\#(LoginSecret.base64URL(x))","y":"\#(LoginSecret.base64URL(y))"}"#
        makeSignature = sign
    }

    /// What names the key to a server: the SHA-256 of its JSON Web Key (RFC 7638).
    var thumbprint: String { LoginSecret.challenge(of: jwk) }

    /// r and s, 64 bytes.
    func signature(of message: Data) throws -> Data {
        let signature = try makeSignature(message)
        guard signature.count == 64 else {
            throw OAuthError.unusableProofKey(
                "its signature has \(signature.count) bytes, and not r and s in 64: DER has to be converted"
            )
        }
        return signature
    }
}

extension ProofKey: Hashable {
    /// Whether both are the same key.
    public static func == (first: ProofKey, second: ProofKey) -> Bool { first.jwk == second.jwk }

    /// Hashes the public key.
    public func hash(into hasher: inout Hasher) { hasher.combine(jwk) }
}

extension ProofKey: CustomStringConvertible, CustomReflectable {
    /// The thumbprint, which servers see as well; never what is stored.
    public var description: String { "ProofKey(\(thumbprint))" }

    /// A mirror without what is stored: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["thumbprint": thumbprint], displayStyle: .struct) }
}
