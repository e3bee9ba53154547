package import AccessTokenOAuth
package import Foundation

#if canImport(CryptoKit)
import CryptoKit
#endif

extension ProofKeys {
    /// Keys of what this machine has: CryptoKit, or a libcrypto that is loaded, so that no test needs a header of it.
    package static let ofThisMachine = ProofKeys(
        make: { try TestKey().proofKey() },
        read: { try? TestKey(stored: $0).proofKey() }
    )

    /// The same keys, with closures that a test counts or replaces.
    package static func ofThisMachine(
        made: @escaping @Sendable () throws -> Void = {},
        read: @escaping @Sendable (Data) throws -> Bool = { _ in true },
        signing: @escaping @Sendable () -> Void = {},
        removed: @escaping @Sendable (Data) -> Void = { _ in }
    ) -> ProofKeys {
        ProofKeys(
            make: {
                try made()
                return try TestKey().proofKey(signing)
            },
            read: { stored in try read(stored) ? try TestKey(stored: stored).proofKey(signing) : nil },
            remove: removed
        )
    }
}

#if canImport(CryptoKit)
private struct TestKey {
    let key: P256.Signing.PrivateKey

    init() throws { key = P256.Signing.PrivateKey() }

    init(stored: Data) throws { key = try P256.Signing.PrivateKey(rawRepresentation: stored) }

    func proofKey(_ signing: @escaping @Sendable () -> Void = {}) throws -> ProofKey {
        let key = key
        return try ProofKey(stored: key.rawRepresentation, publicKey: key.publicKey.x963Representation) {
            signing()
            return try key.signature(for: $0).rawRepresentation
        }
    }
}
#else
private typealias TestKey = LoadedKey

extension LoadedKey {
    fileprivate func proofKey(_ signing: @escaping @Sendable () -> Void = {}) throws -> ProofKey {
        try ProofKey(stored: Data(try pkcs8()), publicKey: Data(try publicPoint())) {
            signing()
            return Data(try self.signature(of: [UInt8]($0)))
        }
    }
}
#endif
