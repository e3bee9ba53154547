public import Foundation

/// Two closures that keep a credential unreadable at rest, by a key that the app holds.
///
/// ```swift
/// let seal = CredentialSeal {
///     try AES.GCM.seal($0, using: key).combined ?? Data()
/// } open: {
///     try AES.GCM.open(AES.GCM.SealedBox(combined: $0), using: key)
/// }
/// ```
///
/// A store that has a seal also reads a credential that was stored without one, and seals it with the next replacement.
/// What cannot be opened is ``CredentialStoreError/unreadable(at:_:)``: a wrong key is no sign-out. What cannot be
/// sealed is ``CredentialStoreError/unavailable(at:_:needsRepair:)``, and is not written.
public struct CredentialSeal: Sendable {
    let seal: @Sendable (Data) throws -> Data
    let open: @Sendable (Data) throws -> Data

    /// Creates a seal.
    ///
    /// - Parameters:
    ///   - seal: makes of a plaintext what is stored; called on any thread.
    ///   - open: makes the plaintext of what was stored, and throws if the key is not the right one.
    public init(
        _ seal: @escaping @Sendable (Data) throws -> Data,
        open: @escaping @Sendable (Data) throws -> Data
    ) {
        self.seal = seal
        self.open = open
    }
}
