#if canImport(CryptoKit)
import CryptoKit
import Foundation

extension ProofKeys {
    /// Keys by CryptoKit, on every Apple platform.
    ///
    /// The credential's record keeps the key itself: in a ``KeychainCredentialStore`` it is in the keychain, and so is
    /// shared by all that share the credential.
    public static let cryptoKit = ProofKeys {
        try proofKey(P256.Signing.PrivateKey())
    } read: { stored in
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: stored) else { return nil }
        return try proofKey(key)
    }

    private static func proofKey(_ key: P256.Signing.PrivateKey) throws -> ProofKey {
        try ProofKey(stored: key.rawRepresentation, publicKey: key.publicKey.x963Representation) { message in
            try key.signature(for: message).rawRepresentation
        }
    }
}

#if canImport(Security)
import Security

extension ProofKeys {
    /// Keys that never leave the Secure Enclave of this device; ``cryptoKit`` where there is none, as in a simulator.
    ///
    /// The credential's record keeps what only this enclave can read. On another device, as after a restore from a
    /// backup, the key is lost, and the user signs in again. The key can be used from the first unlock after the device
    /// has started, as a ``KeychainCredentialStore`` can. No question is put to the user.
    public static let secureEnclave = ProofKeys {
        guard SecureEnclave.isAvailable else { return try cryptoKit.make() }
        let access = SecAccessControlCreateWithFlags(
            nil,
            kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            .privateKeyUsage,
            nil
        )
        guard let access else { throw OAuthError.unusableProofKey("the system has no access control for it") }
        return try proofKey(SecureEnclave.P256.Signing.PrivateKey(accessControl: access))
    } read: { stored in
        guard SecureEnclave.isAvailable,
            let key = try? SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: stored)
        else { return try cryptoKit.read(stored) }
        return try proofKey(key)
    }

    private static func proofKey(_ key: SecureEnclave.P256.Signing.PrivateKey) throws -> ProofKey {
        try ProofKey(stored: key.dataRepresentation, publicKey: key.publicKey.x963Representation) { message in
            try key.signature(for: message).rawRepresentation
        }
    }
}
#endif
#endif
