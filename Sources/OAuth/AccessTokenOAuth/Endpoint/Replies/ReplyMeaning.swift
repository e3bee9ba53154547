/// What a reply without a token asks for.
///
/// Each meaning has one word of a standard, which stands for it where a code is shown.
public enum ReplyMeaning: String, Hashable, Sendable, CaseIterable {
    /// The refresh token, or the code, is no good any more: only a login helps. An ``OAuthLoader`` removes the
    /// credential (`invalid_grant`; RFC 6749, section 5.2).
    case sessionEnded = "invalid_grant"

    /// The server wants to see the user, and says nothing against the refresh token: a login helps, and the credential
    /// stays (`interaction_required`; OpenID Connect Core, section 3.1.2.6).
    case needsUser = "interaction_required"

    /// The server cannot answer at present; the same request may succeed later, and the credential stays
    /// (`temporarily_unavailable`; RFC 6749, section 4.1.2.1).
    case later = "temporarily_unavailable"

    /// The app or the server has to be configured otherwise; the credential stays (`invalid_request`; RFC 6749,
    /// section 5.2).
    case mistake = "invalid_request"

    /// The user of a device login has not decided: ask again (`authorization_pending`; RFC 8628, section 3.5).
    case notYet = "authorization_pending"

    /// A device login asks too often: ask again, 5 s slower (`slow_down`; RFC 8628, section 3.5).
    case slowDown = "slow_down"

    /// The user of a device login refused (`access_denied`; RFC 8628, section 3.5).
    case denied = "access_denied"

    /// The code of a device login has expired: begin a new login (`expired_token`; RFC 8628, section 3.5).
    case codeExpired = "expired_token"

    /// Whether it is an answer to a device that polls.
    var isOfDevice: Bool {
        switch self {
        case .notYet, .slowDown, .denied, .codeExpired: true
        case .sessionEnded, .needsUser, .later, .mistake: false
        }
    }
}

/// What was sent, as far as the meaning of a reply depends on that.
enum GrantKind: Hashable, Sendable {
    /// A refresh token.
    case renewal
    /// A device code.
    case device
    /// A code, a client's own authority, or anything else.
    case other
}
