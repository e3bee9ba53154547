public import Foundation

/// How a server asks for proofs of possession (DPoP, RFC 9449): at the token endpoint and at the resource.
///
/// Every request needs a proof then, and every token is bound to the key of its proof. Of a proof all is checked that
/// RFC 9449, section 4.3, names: one field, one JWT, its type, algorithm and public key, the signature, `htm`, `htu`,
/// the nonce, `iat`, and `ath` with a token. No `jti` is taken twice (section 11.1). The reason of a refusal stands in
/// `error_description`.
public struct ProofDemand: Sendable {
    /// After how many proofs a nonce is replaced; 0 never replaces it, and `nil` asks for none.
    public var nonceUses: Int?

    /// Whether a nonce that was replaced stays good until the next replacement.
    ///
    /// With one use and without this, each nonce is good for a single proof: of many requests at once, one is taken.
    public var takesFormerNonce: Bool

    /// Whether each reply names the present nonce (section 8.2), and not only a refusal.
    public var namesNonceAlways: Bool

    /// By how many seconds a proof's time may be off, in both directions.
    public var window: TimeInterval

    /// By how many seconds the clock of the server is ahead.
    public var clockOffset: TimeInterval

    /// Checks signatures in place of the system; see ``init(nonceUses:takesFormerNonce:namesNonceAlways:window:clockOffset:verify:)``.
    let verify: @Sendable (_ publicKey: Data, _ message: Data, _ signature: Data) -> Bool?

    /// Creates a demand.
    ///
    /// - Parameters:
    ///   - nonceUses: after how many proofs a nonce is replaced; 0 is never, and `nil` asks for none.
    ///   - takesFormerNonce: whether a nonce that was replaced stays good until the next replacement.
    ///   - namesNonceAlways: whether each reply names the present nonce.
    ///   - window: by how many seconds a proof's time may be off.
    ///   - clockOffset: by how many seconds the clock of the server is ahead.
    ///   - verify: checks a signature by ES256: 65 bytes of a public key (4, x, y), and 64 bytes of r and s. `nil` takes
    ///     CryptoKit, or the libcrypto (OpenSSL 1.1 or later) of the machine; without one the server answers 500.
    public init(
        nonceUses: Int? = nil,
        takesFormerNonce: Bool = true,
        namesNonceAlways: Bool = true,
        window: TimeInterval = 60,
        clockOffset: TimeInterval = 0,
        verify: (@Sendable (_ publicKey: Data, _ message: Data, _ signature: Data) -> Bool)? = nil
    ) {
        self.nonceUses = nonceUses
        self.takesFormerNonce = takesFormerNonce
        self.namesNonceAlways = namesNonceAlways
        self.window = window
        self.clockOffset = clockOffset
        self.verify = verify ?? SystemVerifier.verify
    }
}
