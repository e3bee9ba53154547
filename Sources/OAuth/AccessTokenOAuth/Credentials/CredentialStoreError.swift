public import Foundation

/// Why a store did not do what it was asked to, and what to do next.
///
/// Stores also throw the errors of what they are built on. It is a struct over a private enum: a later version
/// can add an error without breaking a `switch`.
public struct CredentialStoreError: Error, Hashable, Sendable {
    private enum Reason: Hashable, Sendable {
        case busy
        case superseded
        case unreadable(place: String, what: String)
        case insecure(place: String, what: String)
        case unavailable(place: String, what: String, needsRepair: Bool)
    }

    private let reason: Reason

    /// Another update was inside for longer than the store waits; nothing was read or written.
    public static let busy = CredentialStoreError(reason: .busy)

    /// The exclusion was lost while the body ran, and another process may have written; nothing was written here.
    ///
    /// An `OAuthLoader` calls `update(_:)` again, and saves what the server issued if nothing newer is there.
    public static let superseded = CredentialStoreError(reason: .superseded)

    /// What is kept at `place` is no credential, or cannot be opened with the key; it was left as it is.
    ///
    /// `what` says what is wrong, and must not have a secret in it.
    public static func unreadable(at place: String, _ what: String) -> CredentialStoreError {
        CredentialStoreError(reason: .unreadable(place: place, what: what))
    }

    /// Others can read or exchange what is kept at `place`: it was neither read nor written; `what` says why.
    public static func insecure(at place: String, _ what: String) -> CredentialStoreError {
        CredentialStoreError(reason: .insecure(place: place, what: what))
    }

    /// The engine below the store failed: a disk, a database, a keychain.
    ///
    /// - Parameters:
    ///   - place: a path, or the name of a server.
    ///   - what: the engine's words; they must not have a secret in them.
    ///   - needsRepair: whether it fails until a person mends it, as with a wrong password or a missing permission.
    public static func unavailable(
        at place: String,
        _ what: String,
        needsRepair: Bool = false
    ) -> CredentialStoreError {
        CredentialStoreError(reason: .unavailable(place: place, what: what, needsRepair: needsRepair))
    }

    /// The same call may succeed later, without anybody's help: ``busy``, ``superseded``, and
    /// ``unavailable(at:_:needsRepair:)`` unless a person has to mend it.
    public var isTransient: Bool {
        switch reason {
        case .busy, .superseded: true
        case .unavailable(_, _, let needsRepair): !needsRepair
        case .unreadable, .insecure: false
        }
    }

    /// What is kept cannot be read: a person has to restore it, or the user has to sign in again.
    public var isUnreadable: Bool {
        if case .unreadable = reason { true } else { false }
    }

    /// Permissions have to be mended before the store can be used.
    public var isInsecure: Bool {
        if case .insecure = reason { true } else { false }
    }

    /// What the error is about: a path, or the name of a row, an item or a server.
    public var place: String? {
        switch reason {
        case .busy, .superseded: nil
        case .unreadable(let place, _), .insecure(let place, _), .unavailable(let place, _, _): place
        }
    }

    /// Lets a pattern match any error, as a case would: `catch CredentialStoreError.busy`.
    public static func ~= (pattern: CredentialStoreError, error: any Error) -> Bool {
        pattern == error as? CredentialStoreError
    }
}

extension CredentialStoreError: CustomStringConvertible, LocalizedError {
    /// For programmers and logs: what happened, to what, and what to do next.
    public var description: String {
        switch reason {
        case .busy:
            """
            The credential was not touched, and nothing was sent: this call has waited for as long as the store waits, \
            and somebody else used the credential. Try again later; if this repeats, look for an update inside an \
            update of the same store.
            """
        case .superseded:
            """
            The credential was not written: this process lost its exclusive access to the store, and somebody else may \
            have written. Try again.
            """
        case .unreadable(let place, let what):
            """
            The credential at \(place) cannot be read: \(what). It was left as it is. Restore it; or remove it, and \
            let the user sign in again.
            """
        case .insecure(let place, let what):
            """
            The credential was not touched: \(place) is not safe: \(what). Mend that; if others could have read the \
            credential, let the user sign in again.
            """
        case .unavailable(let place, let what, _):
            """
            The store at \(place) failed: \(what). Mend that, and try again; what an authorization server issued \
            meanwhile is kept in memory by an OAuthLoader.
            """
        }
    }

    /// For the people who use the app, as `localizedDescription`: what happened and what they can do, in English.
    public var errorDescription: String? {
        switch reason {
        case .busy, .superseded: "Your sign-in is in use by another program. Try again in a moment."
        case .unreadable: "Your stored sign-in is damaged. Sign in again."
        case .insecure: "Your stored sign-in is not safe on this device. Ask the maker of this program for help."
        case .unavailable: "Your sign-in cannot be stored or read at present. Look for a full disk, and try again."
        }
    }
}
