public import Foundation

/// What to do after an error, and what it says of the refresh token.
extension OAuthError {
    /// Only a login helps.
    ///
    /// | the server says | the credential |
    /// | --- | --- |
    /// | that the refresh token is no good any more: `invalid_grant` (RFC 6749, section 5.2), or other words for it | is removed by an ``OAuthLoader`` |
    /// | that it wants to see the user: `interaction_required` (OpenID Connect Core, section 3.1.2.6), or other words | stays, and is not sent again for two minutes |
    ///
    /// <doc:Servers> has the words. It is true of ``proofKeyLost`` as well, where no server was asked.
    public var requiresSignIn: Bool { endsSession || needsInteraction || reason == .proofKeyLost }

    /// The server says that the refresh token, or the code, is no good any more.
    var endsSession: Bool { meaning == .sessionEnded }

    /// The server wants to see the user, and says nothing against the refresh token.
    var needsInteraction: Bool { meaning == .needsUser }

    /// What the server's refusal means; `nil` if the server has not refused.
    var meaning: ReplyMeaning? { if case .refused(_, let meaning, _) = reason { meaning } else { nil } }

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
        case .unavailable, .page, .connectionLost, .timedOut, .assertionTimedOut: true
        case .refused(_, let meaning, _): meaning == .later || meaning == .slowDown
        default: false
        }
    }

    /// The app or the server has to be configured otherwise; the grant is still good.
    public var isConfigurationMistake: Bool {
        switch reason {
        case .refused(_, let meaning, _): meaning == .mistake
        case .unreachable(let code, _): Self.isUnusableURL(code) || Self.isUntrustedCertificate(code)
        case .redirected, .insecureEndpoint, .userInEndpoint, .invalidCodeVerifier: true
        case .noProofKeys, .unusableProofKey: true
        default: false
        }
    }

    /// Whether the server may have carried out the request and spent the refresh token, although no token came.
    ///
    /// To send such a request again is right once if no reply came: it succeeds if the token is unspent, or in the
    /// server's period of grace. A second time only looks like theft. After a reply that cannot be read, not even once
    /// is right: see ``sessionMayBeSpent``. 502, 504, 503 without `Retry-After` and what is above 511 may come from a
    /// proxy that had passed the request on, and so may a page of 2xx in the server's place; any other status is the
    /// server's own, in place of an answer.
    public var mayHaveBeenCarriedOut: Bool {
        switch reason {
        case .connectionLost: true
        case .page(let status, _): (200...299).contains(status)
        case .timedOut(let waitingFor): waitingFor.text == nil
        case .unavailable(502, _, _), .unavailable(504, _, _), .unavailable(503, nil, _): true
        case .unavailable(let status, _, _): status > 511
        default: sessionMayBeSpent && !isHeldBack
        }
    }

    /// The server has issued a token that cannot be used.
    var hasUnusableToken: Bool { if case .unusableToken = reason { true } else { false } }

    /// The server says that it is asked too often.
    var isAskedTooOften: Bool { code == "slow_down" || meaning == .slowDown || status == 429 }

    /// The status of the reply, where the error is about one without a code.
    var status: Int? {
        switch reason {
        case .unavailable(let status, _, _), .notUnderstood(let status, _), .page(let status, _): status
        default: nil
        }
    }

    private var isHeldBack: Bool { if case .heldBack = reason { true } else { false } }

    /// The server failed, which some do after they have spent the refresh token.
    var isServerFailure: Bool {
        if case .unavailable(500..., _, _) = reason { true } else { false }
    }

    /// The server's code, such as `invalid_client`; also of a server that cannot answer at present, such as
    /// `slow_down`.
    public var code: String? {
        switch reason {
        case .refused(let code, _, _): code
        case .unavailable(_, _, let code): code.text
        default: nil
        }
    }

    /// The server's own words (`error_description`) for the people who build the app; up to 200 characters.
    ///
    /// A server may repeat in them what was sent to it. What is recognised of that is hidden; another spelling of a
    /// secret is not. Show the text to a person, and do not log it.
    public var serverExplanation: String? {
        guard case .refused(_, _, let explanation) = reason else { return nil }
        return explanation.text
    }

    /// Seconds after which to ask again, says the server (RFC 9110, section 10.2.3): 5 after `slow_down` at least.
    ///
    /// `nil` if the server says nothing; at most a day, also if the server asks for more.
    public var retryAfter: TimeInterval? {
        guard case .unavailable(_, let seconds, _) = reason else { return nil }
        return seconds
    }

    // MARK: Codes of the system

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
