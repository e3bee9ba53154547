public import AccessTokenFoundation

/// Why a service answered a caller with an error of its own.
///
/// A load's error reaches its waiters unchanged (clause F1); the errors here are those that the service itself
/// has to give. A cancelled waiter gets `CancellationError` (clause X1).
///
/// It is a struct and no enum: a later version can add an error without breaking a `switch`.
public struct AccessTokenError: LoggableError, LocalizedError, CustomStringConvertible, Hashable, Sendable {
    /// The name that the error has in code.
    public let logCode: String

    /// For programmers and logs: what happened, to what, and what to do next.
    public let description: String

    /// For the people who use the app, as `localizedDescription`: what happened and what they can do, in English.
    public let errorDescription: String?

    private init(_ description: String, forUsers errorDescription: String, name: String = #function) {
        logCode = name
        self.description = description
        self.errorDescription = errorDescription
    }

    private static let faultOfTheApp = "This did not work because of a fault in the app. Try again, or restart the app."

    /// No user is signed in (clauses O1 and O3).
    public static var signedOut: AccessTokenError {
        AccessTokenError(
            "No token: nobody is signed in. Sign in, then give the service the new session's token with signIn(_:).",
            forUsers: "You are signed out. Sign in to go on."
        )
    }

    /// The loader was silent past the policy's `loadDeadline` (clause T1).
    public static var loadTimedOut: AccessTokenError {
        AccessTokenError(
            """
            No token: the load did not end within the policy's loadDeadline. The next call loads again; \
            an answer that still comes late is kept. If this repeats, look at the loader's own time-outs, and whether its \
            load(replacing:then:) returns. A loader that waits its turn, as among many accounts at one endpoint, needs a \
            longer loadDeadline, or none (nil).
            """,
            forUsers: "The sign-in server did not answer in time. Try again in a moment."
        )
    }

    /// The callback that should have brought the answer was released without having been called.
    public static var loadAbandoned: AccessTokenError {
        AccessTokenError(
            """
            No token: the callback that should have brought it was released without having been called. \
            Look for a path in the loader or service that returns without calling it, [weak self] above all.
            """,
            forUsers: faultOfTheApp
        )
    }

    /// A loader asked, during a load, the very service that was waiting for that load (clause R1).
    public static var loadAskedItsOwnService: AccessTokenError {
        AccessTokenError(
            """
            No token: the loader asked the service that is waiting for this very load, which could never end. \
            Give the loader's own requests another session, without this service.
            """,
            forUsers: faultOfTheApp
        )
    }

    /// A server rejected the token (RFC 6750, section 3.1); thrown by a request that is run by `withToken`.
    public static var tokenRejected: AccessTokenError {
        AccessTokenError(
            """
            The server rejected the token, and the one that was loaded after it. \
            Look at the token's audience and scope, and at the server's clock.
            """,
            forUsers: "The server did not accept your sign-in. Try again later, or sign out and in again."
        )
    }

    /// The callback of a request that is run by `withToken` was released without having been called.
    public static var requestAbandoned: AccessTokenError {
        AccessTokenError(
            """
            No response: the callback of the request was released without having been called. \
            Look for a path in the request that returns without calling it, [weak self] above all.
            """,
            forUsers: faultOfTheApp
        )
    }

    /// Lets a pattern match any error, as a case would: `catch AccessTokenError.signedOut`.
    public static func ~= (pattern: AccessTokenError, error: any Error) -> Bool {
        pattern == error as? AccessTokenError
    }
}

/// The answer to all who are cancelled: an error costs an allocation each time that it is made.
package let cancellationError: any Error = CancellationError()
