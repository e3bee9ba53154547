/// An error of a loader that can say that only a login helps.
///
/// A service whose load fails with such an error reports ``AccessTokenEvent/Kind/loginNeeded``, and has the status
/// ``SessionStatus/needsLogin``. `OAuthError` is one. Make the error of your own loader one, too, if it can say more than
/// ``AccessTokenError/signedOut``.
///
/// ```swift
/// catch let error as any LoginNeedingError where error.needsLogin { showLogin() }
/// ```
public protocol LoginNeedingError: Error {
    /// Whether nothing but a login helps: the same call would fail again, also later.
    var needsLogin: Bool { get }
}

extension AccessTokenError: LoginNeedingError {
    /// Whether nobody is signed in: ``signedOut``, and no other error of a service.
    public var needsLogin: Bool { self == .signedOut }
}

/// Why a session does not go on without a login.
package enum LoginNeed: Hashable, Sendable {
    /// Nothing is stored.
    case nobody
    /// Something is stored, or was; the server has ended the session, or wants to see the user.
    case user

    /// `nil` for an error after which the next call may succeed; runs the error's code.
    init?(_ error: any Error) {
        if AccessTokenError.signedOut ~= error {
            self = .nobody
        } else if let error = error as? any LoginNeedingError, error.needsLogin {
            self = .user
        } else {
            return nil
        }
    }
}
