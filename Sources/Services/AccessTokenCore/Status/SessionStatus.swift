/// What an app shows of its session.
///
/// | status | an app shows |
/// | --- | --- |
/// | ``unknown`` | a launch screen |
/// | ``signedIn``, ``expired`` | its content |
/// | ``needsLogin`` | a login, and says that the session has ended |
/// | ``signedOut`` | a login |
///
/// A service has the status of its own session. ``ObservedSession`` makes it visible to a view.
public enum SessionStatus: Hashable, Sendable {
    /// Nobody has said yet whether a session is stored: no load has brought a token or found that only a login helps,
    /// and nobody has looked.
    case unknown

    /// There is a session, and a valid token.
    case signedIn

    /// There is a session. Its token has expired, or a server rejected it, and the next call loads another one.
    ///
    /// That is no end of the session: a device without a network stays here.
    case expired

    /// The session cannot go on without a login: the server has ended it, or wants to see the user, or nobody can know
    /// whether it has ended.
    ///
    /// A load found that out, by an error with ``LoginNeedingError/needsLogin``, or a look at the store did.
    case needsLogin

    /// Nobody is signed in: this service was signed out, or nothing is stored any more, for example because another
    /// process has signed out.
    case signedOut
}
