public import Foundation

/// What to do after an error, and what it says of the refresh token.
extension OAuthError {
    /// Only a login helps.
    ///
    /// | codes | the credential |
    /// | --- | --- |
    /// | `invalid_grant` (RFC 6749, section 5.2); GitHub's and Slack's words for it, `bad_refresh_token` and `invalid_refresh_token` | is removed by an ``OAuthLoader`` |
    /// | `login_required`, `interaction_required`, `consent_required`, `account_selection_required` (OpenID Connect Core, section 3.1.2.6) | stays, and is not sent again for two minutes |
    public var requiresSignIn: Bool { endsSession || needsInteraction }

    /// The server says that the refresh token, or the code, is no good any more.
    var endsSession: Bool { code.map(Self.endingCodes.contains) ?? false }

    /// The server wants to see the user, and says nothing against the refresh token.
    var needsInteraction: Bool { code.map(Self.interactionCodes.contains) ?? false }

    /// The server has carried the request out, and its reply cannot be read: a refresh token in it is lost, and the one
    /// that was sent may be spent.
    ///
    /// An ``OAuthLoader`` does not send the token again by itself, which a server that rotates would take for theft. It
    /// keeps the credential, and answers ``heldBack(_:)``. A login ends that, and so does ``OAuthLoader/sendAgain()``.
    public var sessionMayBeSpent: Bool {
        switch reason {
        case .notUnderstood(let status, _): (200...299).contains(status)
        case .bodyTooLong, .unreadableHead, .heldBack: true
        default: false
        }
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
    /// To send such a request again is right once if no reply came: it succeeds if the token is unspent, or in the
    /// server's period of grace. A second time only looks like theft. After a reply that cannot be read, not even once
    /// is right: see ``sessionMayBeSpent``. 502, 504, 503 without `Retry-After` and what is above 511 may come from a
    /// proxy that had passed the request on; any other status is the server's own, in place of an answer.
    public var mayHaveBeenCarriedOut: Bool {
        switch reason {
        case .connectionLost, .timedOut: true
        case .unavailable(502, _, _), .unavailable(504, _, _), .unavailable(503, nil, _): true
        case .unavailable(let status, _, _): status > 511
        default: sessionMayBeSpent && !isHeldBack
        }
    }

    /// The server has issued a token that cannot be used.
    var hasUnusableToken: Bool { if case .unusableToken = reason { true } else { false } }

    private var isHeldBack: Bool { if case .heldBack = reason { true } else { false } }

    /// The server failed, which some do after they have spent the refresh token.
    var isServerFailure: Bool {
        if case .unavailable(500..., _, _) = reason { true } else { false }
    }

    /// The server's code, such as `invalid_client`; also of a server that cannot answer at present, such as
    /// `slow_down`.
    public var code: String? {
        switch reason {
        case .refused(let code, _): code
        case .unavailable(_, _, let code): code.text
        default: nil
        }
    }

    /// The server's own words (`error_description`) for the people who build the app; up to 200 characters.
    ///
    /// A server may repeat in them what was sent to it. What is recognised of that is hidden; another spelling of a
    /// secret is not. Show the text to a person, and do not log it.
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

    // MARK: Codes

    /// `invalid_grant`, and what GitHub and Slack send in its place for a refresh token.
    static let endingCodes: Set = ["invalid_grant", "bad_refresh_token", "invalid_refresh_token"]

    /// Those of OpenID Connect Core, section 3.1.2.6, after which the server answers again when it has seen the user.
    static let interactionCodes: Set = [
        "interaction_required", "login_required", "consent_required", "account_selection_required",
    ]

    /// Those of RFC 8628, section 3.5: they tell how the user's decision stands.
    static let deviceCodes: Set = ["authorization_pending", "slow_down", "expired_token", "access_denied"]

    /// A URL that the system does not even try, now or later.
    static func isUnusableURL(_ code: Int) -> Bool {
        let codes: [URLError.Code] = [.badURL, .unsupportedURL, .appTransportSecurityRequiresSecureConnection]
        return codes.contains { $0.rawValue == code }
    }

    /// A certificate that the system does not accept, now or at the next try.
    static func isUntrustedCertificate(_ code: Int) -> Bool {
        let codes: [URLError.Code] = [
            .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate,
            .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired,
        ]
        return codes.contains { $0.rawValue == code }
    }
}
