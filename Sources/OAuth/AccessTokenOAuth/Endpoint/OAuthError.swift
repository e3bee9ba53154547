public import AccessTokenCore
public import Foundation

/// Why the token endpoint gave no token, and what to do next.
///
/// Ask ``requiresSignIn``, ``isTransient`` and ``isConfigurationMistake``. An error that is none of them was a reply that
/// could not be understood, which another try is not likely to change; or a ``code`` of the device grant (RFC 8628, section
/// 3.5): `authorization_pending` and `slow_down` (5 s longer) ask to poll again, `expired_token` and `access_denied` do not.
///
/// No error prints a secret. The server's free text, which may repeat one, is only in ``serverExplanation``.
///
/// It is a struct over a private enum: a later version can add an error without breaking a `switch`.
public struct OAuthError: Error, Hashable, Sendable {
    /// Free text, which no comparison looks at: two refusals with one code are the same error.
    private struct Remark: Hashable, Sendable {
        let text: String?
        static func == (first: Remark, second: Remark) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    private enum Reason: Hashable, Sendable {
        case refused(code: String, explanation: Remark)
        case unavailable(status: Int, retryAfter: TimeInterval?, code: Remark)
        case unreachable(code: Int, system: Remark)
        case connectionLost(code: Int, system: Remark)
        case unreadableHead(system: Remark)
        case timedOut
        case notUnderstood(status: Int, what: String)
        case redirected(status: Int)
        case bodyTooLong
        case insecureEndpoint
        case userInEndpoint
        case invalidCodeVerifier
        case assertionTimedOut
    }

    private let reason: Reason

    // MARK: What the server says

    /// The server refused, with a code of RFC 6749, section 5.2, and perhaps an explanation for people.
    ///
    /// The code must not have a secret in it. The explanation is shown by ``serverExplanation`` only.
    public static func refused(_ code: String, explanation: String? = nil) -> OAuthError {
        OAuthError(reason: .refused(code: code, explanation: Remark(text: explanation)))
    }

    /// The server cannot answer at present (429, 5xx); it may say after how many seconds to ask again.
    public static func unavailable(status: Int, retryAfter: TimeInterval? = nil) -> OAuthError {
        unavailable(status: status, retryAfter: retryAfter, code: nil)
    }

    /// The server cannot answer at present, and says so with a code.
    static func unavailable(status: Int, retryAfter: TimeInterval?, code: String?) -> OAuthError {
        OAuthError(reason: .unavailable(status: status, retryAfter: retryAfter, code: Remark(text: code)))
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

    /// There is no usable connection to the server, and nothing of the request's body was sent.
    ///
    /// `code` is that of the system's `URLError`; `system` is what the system says, such as why a certificate is not trusted.
    public static func unreachable(code: Int, system: String? = nil) -> OAuthError {
        OAuthError(reason: .unreachable(code: code, system: Remark(text: system)))
    }

    /// The request was sent, and the connection brought no whole reply, or none in HTTP; `code` and `system` as above.
    public static func connectionLost(code: Int, system: String? = nil) -> OAuthError {
        OAuthError(reason: .connectionLost(code: code, system: Remark(text: system)))
    }

    /// `URLSession` cannot read the head of the reply, and the tokens behind it are lost.
    ///
    /// The server sends such a head each time, so the same request does not help; see <doc:ThreatModel>.
    public static func unreadableHead(system: String? = nil) -> OAuthError {
        OAuthError(reason: .unreadableHead(system: Remark(text: system)))
    }

    /// The server did not reply within the endpoint's deadline.
    public static let timedOut = OAuthError(reason: .timedOut)

    // MARK: What was not sent

    /// The endpoint is not `https`, nor on this machine: the request would have shown its secrets to everybody.
    public static let insecureEndpoint = OAuthError(reason: .insecureEndpoint)

    /// The endpoint's URL has a user name in it: what one parser takes for the user is the host to another.
    public static let userInEndpoint = OAuthError(reason: .userInEndpoint)

    /// The code verifier is not of the form that RFC 7636, section 4.1, has.
    public static let invalidCodeVerifier = OAuthError(reason: .invalidCodeVerifier)

    /// The app did not make the client assertion within the endpoint's deadline.
    public static let assertionTimedOut = OAuthError(reason: .assertionTimedOut)

    // MARK: What to do next

    /// The grant is no good any more: the user has to sign in again, and nothing else helps.
    ///
    /// The codes that mean this are `invalid_grant` (RFC 6749, section 5.2), and what GitHub and Slack send in its
    /// place for a refresh token: `bad_refresh_token` and `invalid_refresh_token`.
    public var requiresSignIn: Bool {
        code.map(Self.signInCodes.contains) ?? false
    }

    /// The same request may succeed later: after ``retryAfter`` if the server says, or after a while.
    public var isTransient: Bool {
        switch reason {
        case .unreachable(let code, _): !Self.isUnusableURL(code) && !Self.isUntrustedCertificate(code)
        case .unavailable, .connectionLost, .timedOut, .assertionTimedOut: true
        default: false
        }
    }

    /// The app or the server has to be configured otherwise; the grant is still good.
    public var isConfigurationMistake: Bool {
        switch reason {
        case .refused(let code, _): !requiresSignIn && !Self.deviceCodes.contains(code)
        case .unreachable(let code, _): Self.isUnusableURL(code) || Self.isUntrustedCertificate(code)
        case .redirected, .insecureEndpoint, .userInEndpoint, .invalidCodeVerifier: true
        default: false
        }
    }

    /// Whether the server may have carried out the request and spent the refresh token, although no token came.
    ///
    /// To send such a request again is right once: it succeeds if the token is unspent, or in the server's period of
    /// grace. A second time only looks like theft. 502, 504, 503 without `Retry-After` and what is above 511 may come from a
    /// proxy that had passed the request on; any other status is the server's own, in place of an answer.
    public var mayHaveBeenCarriedOut: Bool {
        switch reason {
        case .connectionLost, .unreadableHead, .timedOut, .bodyTooLong: true
        case .notUnderstood(let status, _): (200...299).contains(status)
        case .unavailable(502, _, _), .unavailable(504, _, _), .unavailable(503, nil, _): true
        case .unavailable(let status, _, _): status > 511
        default: false
        }
    }

    /// The server's code, such as `invalid_client`; also of a server that cannot answer at present, such as `slow_down`.
    public var code: String? {
        switch reason {
        case .refused(let code, _): code
        case .unavailable(_, _, let code): code.text
        default: nil
        }
    }

    /// The server's own words (`error_description`) for the people who build the app; up to 200 characters.
    ///
    /// A server may repeat in them what was sent to it. What is recognised of that is hidden; another spelling of a secret
    /// is not. Show the text to a person, and do not log it.
    public var serverExplanation: String? {
        guard case .refused(_, let explanation) = reason else { return nil }
        return explanation.text
    }

    /// Seconds after which to ask again, says the server (RFC 9110, section 10.2.3): 5 after `slow_down` at least.
    ///
    /// `nil` if the server says nothing, or asks for more than a day, which counts as nothing.
    public var retryAfter: TimeInterval? {
        guard case .unavailable(_, let seconds, _) = reason else { return nil }
        return seconds
    }

    /// Lets a pattern match any error, as a case would: `catch OAuthError.timedOut`.
    public static func ~= (pattern: OAuthError, error: any Error) -> Bool {
        pattern == error as? OAuthError
    }
}

extension OAuthError: LoggableError, CustomStringConvertible, CustomReflectable, LocalizedError {
    /// The server's ``code``, or a word such as `http_503` and `timed_out`: what a service's events say of a failed load.
    public var logCode: String {
        switch reason {
        case .refused(let code, _): code
        case .unavailable(let status, _, let code): code.text ?? "http_\(status)"
        case .unreachable: "unreachable"
        case .connectionLost: "reply_lost"
        case .unreadableHead: "unreadable_head"
        case .timedOut: "timed_out"
        case .notUnderstood(let status, _): "not_understood_\(status)"
        case .redirected(let status): "redirected_\(status)"
        case .bodyTooLong: "body_too_long"
        case .insecureEndpoint: "insecure_endpoint"
        case .userInEndpoint: "user_in_endpoint"
        case .invalidCodeVerifier: "invalid_code_verifier"
        case .assertionTimedOut: "assertion_timed_out"
        }
    }

    /// What happened, to what, and what to do next.
    public var description: String {
        switch reason {
        case .refused(let code, _):
            "No token: the token endpoint refused with \(code). " + Self.advice(for: code)
        case .unavailable(_, _, let code) where code.text == "slow_down":
            "No token: the token endpoint is asked too often (slow_down). " + Self.advice(for: "slow_down")
        case .unavailable(let status, let seconds, _):
            "No token: the token endpoint cannot answer at present (\(status)). "
                + (seconds.map { "Try again after \($0) s." } ?? "Try again later.")
        case .unreachable(let code, let system) where Self.isUnusableURL(code):
            "No token: the system takes no such URL for the endpoint (\(Self.text(code, system))); nothing was sent. "
                + "Configure the URL, and on Apple platforms App Transport Security for plain HTTP."
        case .unreachable(let code, let system) where Self.isUntrustedCertificate(code):
            "No token: the certificate of the token endpoint is not accepted ("
                + [URLError.Code.text(code), system.text ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
                + "); nothing was sent. Check the certificate, the authorities of this system, and its clock."
        case .unreachable(let code, let system):
            "No token: no connection to the token endpoint (\(Self.text(code, system))); nothing was sent. "
                + "Try again later."
        case .connectionLost(let code, let system):
            "No token: the request was sent, and no whole reply came (\(Self.text(code, system))). Try once again."
        case .unreadableHead(let system):
            "No token: URLSession cannot read the head of the token endpoint's reply (\(system.text ?? "no reason")), and "
                + "another try does not help. Look at the head with curl -v: on Linux lines must end in CRLF and be UTF-8, "
                + "with a space after the status and none before a colon, below 100 KB. A proxy can write it anew."
        case .timedOut:
            "No token within the deadline: the token endpoint did not reply, to this process or to another one for which this "
                + "one waits. Try again later; an OAuthLoader keeps a late reply."
        case .notUnderstood(let status, let what):
            "No token: the token endpoint's reply (\(status)) was not understood: \(what). Look at what answers there."
        case .redirected(let status):
            "No token: the token endpoint redirects (\(status)), which is not followed. Configure its present URL."
        case .bodyTooLong:
            "No token: the token endpoint's reply is longer than a megabyte. Look at what answers there."
        case .insecureEndpoint:
            "No token: the endpoint's URL is not https. Use https, or allow plain HTTP where nobody can listen."
        case .userInEndpoint:
            "No token: the endpoint's URL has a user name in it; nothing was sent. Remove the user name and password, and "
                + "name the client by its ClientAuthentication."
        case .invalidCodeVerifier:
            "No token: the code verifier must be 43 to 128 letters, digits, '-', '.', '_' or '~'."
        case .assertionTimedOut:
            "No token: the app made no client assertion within the deadline; nothing was sent. Look at what makes it."
        }
    }

    /// The same as `description`, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }

    /// A mirror without the server's free text: `dump` prints no secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description], displayStyle: .struct)
    }

    private static func text(_ code: Int, _ system: Remark) -> String {
        let known = URLError.Code.text(code)
        return system.text.map { known.contains(":") ? known : "\(known): \($0)" } ?? known
    }

    /// A URL that the system does not even try, now or later.
    private static func isUnusableURL(_ code: Int) -> Bool {
        let codes: [URLError.Code] = [.badURL, .unsupportedURL, .appTransportSecurityRequiresSecureConnection]
        return codes.contains { $0.rawValue == code }
    }

    /// A certificate that the system does not accept, now or at the next try.
    private static func isUntrustedCertificate(_ code: Int) -> Bool {
        let codes: [URLError.Code] = [
            .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate,
            .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired,
        ]
        return codes.contains { $0.rawValue == code }
    }

    /// `invalid_grant`, and what GitHub and Slack send in its place for a refresh token.
    private static let signInCodes: Set = ["invalid_grant", "bad_refresh_token", "invalid_refresh_token"]

    /// Those of RFC 8628, section 3.5: they tell how the user's decision stands.
    private static let deviceCodes: Set = ["authorization_pending", "slow_down", "expired_token", "access_denied"]

    private static func advice(for code: String) -> String {
        switch code {
        case _ where signInCodes.contains(code): "The refresh token or code is no good any more: sign in again."
        case "invalid_client": "Check the client's identifier, secret and method of authentication."
        case "unauthorized_client", "unsupported_grant_type": "Check which grants the client is registered for."
        case "invalid_scope": "Ask for no scope, or for none that was not granted."
        case "authorization_pending": "The user has not decided yet: poll again after the interval."
        case "slow_down": "Poll 5 s slower from now on."
        case "expired_token": "The device code has expired: begin the device authorization anew."
        case "access_denied": "The user refused, or the server did: do not repeat the request."
        default: "The grant is kept; check the request against the server's documentation."
        }
    }
}
