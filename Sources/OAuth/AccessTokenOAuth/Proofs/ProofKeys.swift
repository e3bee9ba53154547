import AccessTokenSynchronization
public import Foundation

/// Makes the keys of sessions, and reads them again: for a server that binds tokens to a key (DPoP, RFC 9449).
///
/// ```swift
/// endpoint.proofKeys = ProofKeys {
///     let key = P256.Signing.PrivateKey()
///     return try ProofKey(stored: key.rawRepresentation, publicKey: key.publicKey.x963Representation) {
///         try key.signature(for: $0).rawRepresentation
///     }
/// } read: { stored in
///     …
/// }
/// ```
///
/// On Apple platforms `secureEnclave` and `cryptoKit` are ready to use; on Linux, `openSSL` of the product
/// AccessTokenOpenSSL is. <doc:ProofOfPossession> has both.
///
/// **Concurrency** The closures are called on any thread, many at a time. They must not ask the user for anything.
public struct ProofKeys: Sendable {
    /// Keys that were read, so that a key is not read for each proof.
    private final class Cache: Sendable {
        let keys = Locked<[Data: ProofKey]>([:])
        /// A server has a key for each of its users, and most of them are not used at a time.
        static let most = 64
    }

    let make: @Sendable () throws -> ProofKey
    /// Makes a key of what is stored; `nil` if it is lost.
    let read: @Sendable (Data) throws -> ProofKey?
    private let remove: @Sendable (Data) -> Void
    private let cache = Cache()

    /// Creates closures over keys of the app's own.
    ///
    /// - Parameters:
    ///   - make: makes the key of a new session. Its error reaches the caller of the exchange or of the login.
    ///   - read: makes a key of what is stored. Return `nil` if the key is lost: the user has to sign in then
    ///     (``OAuthError/proofKeyLost``). Throw if the key cannot be read at present: the error reaches the callers
    ///     unchanged, nothing is sent, and the session stays.
    ///   - remove: is told of each key whose session has ended, perhaps twice, for keys that are stored by name.
    ///     Whatever it does, the session has ended.
    public init(
        make: @escaping @Sendable () throws -> ProofKey,
        read: @escaping @Sendable (_ stored: Data) throws -> ProofKey?,
        remove: @escaping @Sendable (_ stored: Data) -> Void = { _ in }
    ) {
        self.make = make
        self.read = read
        self.remove = remove
    }

    /// The key of a session; throws ``OAuthError/proofKeyLost`` if there is none any more.
    func key(from stored: Data) throws -> ProofKey {
        if let key = cache.keys.withLock({ $0[stored] }) { return key }
        guard let key = try read(stored) else { throw OAuthError.proofKeyLost }
        cache.keys.withLock { keys in
            if keys.count >= Cache.most { keys = [:] }
            keys[stored] = key
        }
        return key
    }

    /// The session of this key has ended.
    func forget(_ stored: Data) {
        _ = cache.keys.withLock { $0.removeValue(forKey: stored) }
        remove(stored)
    }
}

extension ProofKeys: CustomStringConvertible, CustomReflectable {
    /// No key, and nothing that is stored.
    public var description: String { "ProofKeys" }

    /// A mirror without keys: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
