public import Foundation

/// Why the token endpoint gave no token, and what to do next.
///
/// Ask ``requiresSignIn``, ``isTransient`` and ``isConfigurationMistake``; an error that is none of them was a reply
/// that could not be understood, which another try is not likely to change. No error has a secret in it, not even if
/// the server repeats one in its explanation.
///
/// It is a struct over a private enum so that a later version can add an error without breaking a `switch`.
public struct OAuthError: Error, Hashable, Sendable {
    private enum Reason: Hashable, Sendable {
        case refused(code: String, explanation: String?)
        case unavailable(status: Int, retryAfter: TimeInterval?)
        case unreachable(code: Int)
        case connectionLost(code: Int)
        case timedOut
        case notUnderstood(status: Int, what: String)
        case redirected(status: Int)
        case bodyTooLong
        case insecureEndpoint
        case invalidCodeVerifier
        case assertionTimedOut
    }

    private let reason: Reason

    // MARK: What the server says

    /// The server refused, with a code of RFC 6749, section 5.2, and perhaps an explanation for people.
    public static func refused(_ code: String, explanation: String? = nil) -> OAuthError {
        OAuthError(reason: .refused(code: code, explanation: explanation))
    }

    /// The server cannot answer at present (429, 5xx); it may say after how many seconds to ask again.
    public static func unavailable(status: Int, retryAfter: TimeInterval? = nil) -> OAuthError {
        OAuthError(reason: .unavailable(status: status, retryAfter: retryAfter))
    }

    /// The reply is none of a token endpoint; `what` says why, and must not have a secret in it.
    public static func notUnderstood(status: Int, _ what: String) -> OAuthError {
        OAuthError(reason: .notUnderstood(status: status, what: what))
    }

    /// The server sent the request elsewhere, which is not followed: it would take the secrets with it.
    public static func redirected(status: Int) -> OAuthError {
        OAuthError(reason: .redirected(status: status))
    }

    /// The reply was longer than a megabyte, and was not read further.
    public static let bodyTooLong = OAuthError(reason: .bodyTooLong)

    // MARK: What the connection says

    /// There is no connection to the server, and nothing was sent; the code is that of the system's `URLError`.
    public static func unreachable(code: Int) -> OAuthError {
        OAuthError(reason: .unreachable(code: code))
    }

    /// The connection ended before the reply was whole; the code is that of the system's `URLError`.
    public static func connectionLost(code: Int) -> OAuthError {
        OAuthError(reason: .connectionLost(code: code))
    }

    /// The server did not reply within the endpoint's deadline.
    public static let timedOut = OAuthError(reason: .timedOut)

    // MARK: What was not sent

    /// The endpoint is not `https`, nor on this machine: the request would have shown its secrets to everybody.
    public static let insecureEndpoint = OAuthError(reason: .insecureEndpoint)

    /// The code verifier is not of the form that RFC 7636, section 4.1, has.
    public static let invalidCodeVerifier = OAuthError(reason: .invalidCodeVerifier)

    /// The app did not make the client assertion within the endpoint's deadline.
    public static let assertionTimedOut = OAuthError(reason: .assertionTimedOut)

    // MARK: What to do next

    /// The grant is no good any more (`invalid_grant`): the user has to sign in again, and nothing else helps.
    public var requiresSignIn: Bool { code == "invalid_grant" }

    /// The same request may succeed later: after ``retryAfter`` if the server says, or after a while.
    public var isTransient: Bool {
        switch reason {
        case .unreachable(let code): !Self.isUnusableURL(code)
        case .unavailable, .connectionLost, .timedOut, .assertionTimedOut: true
        default: false
        }
    }

    /// The app or the server has to be configured otherwise; the grant is still good.
    public var isConfigurationMistake: Bool {
        switch reason {
        case .refused: !requiresSignIn
        case .unreachable(let code): Self.isUnusableURL(code)
        case .redirected, .insecureEndpoint, .invalidCodeVerifier: true
        default: false
        }
    }

    /// Whether the server may have carried out the request and spent the refresh token, although no reply came.
    ///
    /// To send such a request again is right once: it succeeds if the token is unspent, or in the server's period of
    /// grace. A second time only looks like theft.
    public var mayHaveBeenCarriedOut: Bool {
        switch reason {
        case .connectionLost, .timedOut: true
        default: false
        }
    }

    /// The server's code, such as `invalid_client`.
    public var code: String? {
        guard case .refused(let code, _) = reason else { return nil }
        return code
    }

    /// For how many seconds the server asked not to be asked again (RFC 9110, section 10.2.3); at most a day.
    public var retryAfter: TimeInterval? {
        guard case .unavailable(_, let seconds) = reason else { return nil }
        return seconds
    }
}

extension OAuthError: CustomStringConvertible, LocalizedError {
    /// What happened, to what, and what to do next.
    public var description: String {
        switch reason {
        case .refused(let code, let explanation):
            "No token: the token endpoint refused with \(code)\(explanation.map { " (\($0))" } ?? ""). "
                + Self.advice(for: code)
        case .unavailable(let status, let seconds):
            "No token: the token endpoint cannot answer at present (\(status)). "
                + (seconds.map { "Try again after \($0) s." } ?? "Try again later.")
        case .unreachable(let code) where Self.isUnusableURL(code):
            "No token: the system takes no such URL for the endpoint (\(URLError.Code.text(code))); nothing was sent. "
                + "Configure the URL, and on Apple platforms App Transport Security for plain HTTP."
        case .unreachable(let code):
            "No token: no connection to the token endpoint (\(URLError.Code.text(code))); nothing was sent. Try again later."
        case .connectionLost(let code):
            "No token: the connection to the token endpoint was lost (\(URLError.Code.text(code))). Try once again."
        case .timedOut:
            "No token: the token endpoint did not reply within the deadline. Try again later; a late reply "
                + "is kept by an OAuthLoader."
        case .notUnderstood(let status, let what):
            "No token: the token endpoint's reply (\(status)) was not understood: \(what). Look at what answers there."
        case .redirected(let status):
            "No token: the token endpoint redirects (\(status)), which is not followed. Configure its present URL."
        case .bodyTooLong:
            "No token: the token endpoint's reply is longer than a megabyte. Look at what answers there."
        case .insecureEndpoint:
            "No token: the endpoint's URL is not https. Use https, or allow plain HTTP where nobody can listen."
        case .invalidCodeVerifier:
            "No token: the code verifier must be 43 to 128 letters, digits, '-', '.', '_' or '~'."
        case .assertionTimedOut:
            "No token: the app made no client assertion within the deadline; nothing was sent. Look at what makes it."
        }
    }

    /// The same as `description`, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }

    /// A URL that the system does not even try, now or later.
    private static func isUnusableURL(_ code: Int) -> Bool {
        let codes: [URLError.Code] = [.badURL, .unsupportedURL, .appTransportSecurityRequiresSecureConnection]
        return codes.contains { $0.rawValue == code }
    }

    private static func advice(for code: String) -> String {
        switch code {
        case "invalid_grant": "The refresh token or code is no good any more: sign in again."
        case "invalid_client": "Check the client's identifier, secret and method of authentication."
        case "unauthorized_client", "unsupported_grant_type": "Check which grants the client is registered for."
        case "invalid_scope": "Ask for no scope, or for none that was not granted."
        default: "The grant is kept; check the request against the server's documentation."
        }
    }
}
