public import Foundation

/// Why a store did not do what it was asked to.
///
/// Stores also throw the errors of what they are built on. It is a struct over a private enum so that a later version
/// can add an error without breaking a `switch`.
public struct CredentialStoreError: Error, Hashable, Sendable {
    private enum Code: Hashable, Sendable {
        case busy
    }

    private let code: Code

    /// Somebody else was inside for longer than the store waits; nothing was read or written.
    public static let busy = CredentialStoreError(code: .busy)
}

extension CredentialStoreError: CustomStringConvertible, LocalizedError {
    /// What happened, to what, and what to do next.
    public var description: String {
        switch code {
        case .busy:
            """
            The credential was not touched: somebody else used it for longer than the store waits. Try again later; \
            if this repeats, look for an update inside an update of the same store.
            """
        }
    }

    /// The same as `description`, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
