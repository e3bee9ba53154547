public import Foundation

/// Why a session did not send a request, or did not read its reply to the end.
///
/// None has a secret in it. It is a struct over a private enum: a later version can add an error without breaking a
/// `switch`.
public struct BearerSessionError: Error, Hashable, Sendable {
    private enum Reason: Hashable, Sendable {
        case originNotAllowed(String)
        case insecureOrigin(String)
        case authorizationAlreadySet
        case unsendableToken
        case bodyTooLong(limit: Int)
    }

    private let reason: Reason

    /// The request leads to an origin that the session was not created for; it is in the error, as
    /// `https://host:port`.
    public static func originNotAllowed(_ origin: String) -> BearerSessionError {
        BearerSessionError(reason: .originNotAllowed(origin))
    }

    /// The origin is neither `https` nor on this machine: everybody on the way could take the token (RFC 6750,
    /// section 5.3).
    public static func insecureOrigin(_ origin: String) -> BearerSessionError {
        BearerSessionError(reason: .insecureOrigin(origin))
    }

    /// The request, or the session's configuration, has an `Authorization` field of its own; or the request's URL names
    /// a user, which would become one.
    public static let authorizationAlreadySet = BearerSessionError(reason: .authorizationAlreadySet)

    /// The token is empty, or has characters that no header field can carry (RFC 6750, section 2.1).
    public static let unsendableToken = BearerSessionError(reason: .unsendableToken)

    /// The reply's body is longer than the session's limit, in bytes, and was not read further.
    public static func bodyTooLong(limit: Int) -> BearerSessionError {
        BearerSessionError(reason: .bodyTooLong(limit: limit))
    }

    /// Lets a pattern match any error, as a case would: `catch BearerSessionError.unsendableToken`.
    public static func ~= (pattern: BearerSessionError, error: any Error) -> Bool {
        pattern == error as? BearerSessionError
    }
}

extension BearerSessionError: CustomStringConvertible, LocalizedError {
    /// For programmers and logs: what happened, to what, and what to do next.
    public var description: String {
        switch reason {
        case .originNotAllowed(let origin):
            "Not sent: \(origin) is none of the session's origins. Add it if it may see the token, or use a URLSession."
        case .insecureOrigin(let origin):
            "Not sent: the token would go to \(origin) in the clear. Use https, or allow plain HTTP for the session."
        case .authorizationAlreadySet:
            "Not sent: there is an Authorization field already, or the URL names a user. Remove it; the session sets the "
                + "field."
        case .unsendableToken:
            "Not sent: the token has characters that no header field can carry, or none. Look at the token's loader."
        case .bodyTooLong(let limit):
            "The reply is longer than the session's limit of \(limit) bytes, and was not read further. Raise the session's "
                + "bodyLimit, or download to a file with URLSession and withToken."
        }
    }

    /// For the people who use the app, as `localizedDescription`: what happened and what they can do, in English.
    public var errorDescription: String? {
        switch reason {
        case .originNotAllowed, .insecureOrigin, .authorizationAlreadySet:
            "This did not work because of a fault in the app. Update the app, or ask its maker for help."
        case .unsendableToken: OAuthError.misunderstanding
        case .bodyTooLong: "The server's answer is too long for this app. Update the app, or ask its maker for help."
        }
    }
}
