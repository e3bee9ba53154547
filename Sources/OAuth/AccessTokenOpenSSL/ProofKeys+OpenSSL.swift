#if OpenSSL
public import AccessTokenOAuth
import Foundation

extension ProofKeys {
    /// Keys by OpenSSL's libcrypto (version 3 or later), for Linux.
    ///
    /// The credential's record keeps the key itself (PKCS #8): give the store a ``CredentialSeal``, or keep its folder
    /// for this user only. What cannot be read as such a key counts as lost.
    ///
    /// **Failure** When a key is made: ``OpenSSLError``, which no retry mends.
    public static let openSSL = ProofKeys {
        try LibcryptoKey().proofKey()
    } read: { stored in
        guard let key = try? LibcryptoKey(pkcs8: [UInt8](stored)) else { return nil }
        return try key.proofKey()
    }
}

/// What libcrypto did not do; it is the same at the next call.
public struct OpenSSLError: Error, Hashable, Sendable, CustomStringConvertible {
    let call: String

    /// The call that failed; never a key.
    public var description: String {
        "OpenSSL: \(call) failed. Look at the version of libcrypto: 3 or later is needed."
    }
}

extension LibcryptoKey {
    fileprivate func proofKey() throws -> ProofKey {
        try ProofKey(stored: Data(try pkcs8()), publicKey: Data(try publicPoint())) { message in
            Data(try self.signature(of: [UInt8](message)))
        }
    }
}
#endif
