import AccessTokenSynchronization

/// Stands for the keychain: a place for one credential.
package final class Keychain: Sendable {
    private let stored = Locked<Credential?>(nil)

    package init() {}

    package var credential: Credential? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }

    /// Stores `new` if `old` is still there: no sign-out and no other sign-in came meanwhile.
    ///
    /// With `nil`, removes `old`.
    package func replace(_ old: Credential, with new: Credential?) {
        stored.withLock { if $0 == old { $0 = new } }
    }
}
