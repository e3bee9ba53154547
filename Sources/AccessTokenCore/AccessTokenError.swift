public import Foundation

/// Why a service answered a caller with an error of its own.
///
/// A load's error reaches its waiters unchanged (clause F1); the errors here are those that the service itself
/// has to give. A cancelled waiter gets `CancellationError` (clause X1).
///
/// It is a struct over a private enum so that a later version can add an error without breaking a `switch`.
public struct AccessTokenError: Error, Hashable, Sendable {
    private enum Code: Hashable, Sendable {
        case signedOut
        case loadTimedOut
        case loadAbandoned
        case loadAskedItsOwnService
        case tokenRejected
        case requestAbandoned
    }

    private let code: Code

    /// Nobody is signed in (clauses O1 and O3).
    public static let signedOut = AccessTokenError(code: .signedOut)

    /// The loader was silent past the policy's `loadDeadline` (clause T1).
    public static let loadTimedOut = AccessTokenError(code: .loadTimedOut)

    /// The callback that should have brought the answer was released without having been called.
    public static let loadAbandoned = AccessTokenError(code: .loadAbandoned)

    /// A loader asked, during a load, the very service that was waiting for that load (clause R1).
    public static let loadAskedItsOwnService = AccessTokenError(code: .loadAskedItsOwnService)

    /// A server rejected the token (RFC 6750, section 3.1); thrown by a request that is run by `withToken`.
    public static let tokenRejected = AccessTokenError(code: .tokenRejected)

    /// The callback of a request that is run by `withToken` was released without having been called.
    public static let requestAbandoned = AccessTokenError(code: .requestAbandoned)

    /// The name that the error has in code, for events.
    package var name: String { "\(code)" }

    /// Lets a pattern match any error, as a case would: `catch AccessTokenError.signedOut`.
    public static func ~= (pattern: AccessTokenError, error: any Error) -> Bool {
        pattern == error as? AccessTokenError
    }
}

extension AccessTokenError: LoggableError {
    /// The name that the error has in code.
    public var logCode: String { name }
}

extension AccessTokenError: CustomStringConvertible, LocalizedError {
    /// What happened, to what, and what to do next.
    public var description: String {
        switch code {
        case .signedOut:
            "No token: nobody is signed in. Sign in, then give the service the new session's token with signIn(_:)."
        case .loadTimedOut:
            """
            No token: the loader did not answer within the policy's loadDeadline. The next call loads again; \
            an answer that still comes late is kept. If this repeats, look at the loader's own time-outs, and whether its \
            load(replacing:then:) returns.
            """
        case .loadAbandoned:
            """
            No token: the callback that should have brought it was released without having been called. \
            Look for a path in the loader or service that returns without calling it, [weak self] above all.
            """
        case .loadAskedItsOwnService:
            """
            No token: the loader asked the service that is waiting for this very load, which could never end. \
            Give the loader's own requests another session, without this service.
            """
        case .tokenRejected:
            """
            The server rejected the token, and the one that was loaded after it. \
            Look at the token's audience and scope, and at the server's clock.
            """
        case .requestAbandoned:
            """
            No response: the callback of the request was released without having been called. \
            Look for a path in the request that returns without calling it, [weak self] above all.
            """
        }
    }

    /// The same as `description`, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
