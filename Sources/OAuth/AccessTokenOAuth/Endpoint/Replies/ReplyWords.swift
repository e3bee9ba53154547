/// A word by which servers say why they give no token, what the word means, and who says so.
struct ReplyWord: Hashable, Sendable {
    /// In the spelling of the source; capital letters, hyphens, spaces and underscores do not count.
    let word: String
    let meaning: ReplyMeaning
    /// The only grant for which it means that, and `nil` for all.
    ///
    /// Of a word's rows the first one counts.
    var grant: GrantKind?
    let source: String

    /// The word that a text is in the reply to a grant; `nil` if none is known here.
    static func known(_ text: String, for grant: GrantKind) -> ReplyWord? {
        table[spelling(of: text)]?.first { $0.grant == nil || $0.grant == grant }
    }

    /// A word that everybody knows: a secret that such a word contains is not given away by it.
    static func isKnown(_ text: String) -> Bool { known.contains(text) }

    /// Letters and digits only, and without the ending that some servers give to the names of their errors.
    private static func spelling(of text: String) -> String {
        guard text.utf8.count <= longestWord else { return "" }
        let letters = text.lowercased().filter { $0.isLetter || $0.isNumber }
        return letters.hasSuffix("exception") ? String(letters.dropLast("exception".count)) : letters
    }

    private static let longestWord = 80

    private static let table = Dictionary(grouping: all) { spelling(of: $0.word) }
    private static let known = Set(all.map(\.word))

    private static func words(
        _ meaning: ReplyMeaning,
        for grant: GrantKind? = nil,
        _ source: String,
        _ words: String...
    ) -> [ReplyWord] {
        words.map { ReplyWord(word: $0, meaning: meaning, grant: grant, source: source) }
    }

    static let all: [ReplyWord] = standard + ofServers

    private static let standard: [ReplyWord] =
        words(.sessionEnded, "RFC 6749, section 5.2", "invalid_grant")
        + words(
            .mistake,
            "RFC 6749, section 5.2",
            "invalid_request",
            "invalid_client",
            "unauthorized_client",
            "unsupported_grant_type",
            "invalid_scope"
        )
        + words(.later, "RFC 6749, section 4.1.2.1", "temporarily_unavailable", "server_error")
        // In the answer to a refresh token, it can only speak of that token.
        + words(.sessionEnded, for: .renewal, "RFC 6750, section 3.1; UAA, Spring", "invalid_token")
        + words(.mistake, "RFC 6750, section 3.1", "invalid_token", "insufficient_scope")
        + words(.mistake, "RFC 7009, section 2.2.1", "unsupported_token_type")
        + words(.sessionEnded, for: .renewal, "Baidu, AWS IAM Identity Center", "expired_token")
        + words(.mistake, for: .renewal, "RFC 6749, section 4.1.2.1", "access_denied")
        + words(.notYet, "RFC 8628, section 3.5", "authorization_pending")
        + words(.slowDown, "RFC 8628, section 3.5", "slow_down")
        + words(.denied, "RFC 8628, section 3.5", "access_denied")
        + words(.codeExpired, "RFC 8628, section 3.5", "expired_token")
        + words(.mistake, "RFC 8707, section 2", "invalid_target")
        + words(.mistake, "RFC 9449, sections 5 and 8", "invalid_dpop_proof", "use_dpop_nonce")
        + words(
            .needsUser,
            "OpenID Connect Core, section 3.1.2.6",
            "interaction_required",
            "login_required",
            "consent_required",
            "account_selection_required"
        )
        + words(.needsUser, "OpenID Connect Unmet Authentication Requirements", "unmet_authentication_requirements")
        + words(.needsUser, "RFC 9470, section 3", "insufficient_user_authentication")

    private static let ofServers: [ReplyWord] =
        words(.sessionEnded, "GitHub", "bad_refresh_token")
        + words(.sessionEnded, "Slack, Firebase", "invalid_refresh_token")
        + words(.sessionEnded, for: .renewal, "Slack, Firebase", "token_expired", "token_revoked")
        + words(.sessionEnded, for: .renewal, "Zoho", "invalid_code")
        + words(.sessionEnded, for: .renewal, "Supabase", "session_not_found", "session_expired")
        + words(.needsUser, "Auth0", "mfa_required")
        + words(.needsUser, "Google", "invalid_rapt", "rapt_required")
        + words(.needsUser, "Supabase", "insufficient_aal", "reauthentication_needed")
        + words(.later, "Auth0", "too_many_requests")
        + words(
            .later,
            "Slack",
            "ratelimited",
            "rate_limited",
            "internal_error",
            "fatal_error",
            "service_unavailable",
            "request_timeout"
        )
        + words(.later, "Supabase", "over_request_rate_limit", "unexpected_failure", "conflict")
        + words(
            .later,
            "Google",
            "internal_failure",
            "rate_limit_exceeded",
            "resource_exhausted",
            "unavailable",
            "aborted",
            "internal",
            "backend_error"
        )
        + words(.later, "Keycloak", "unknown_error")
        + words(.later, "AWS", "InternalServerException", "ThrottlingException", "LimitExceededException")
        + words(
            .later,
            "other servers",
            "internal_server_error",
            "quota_exceeded",
            "throttled",
            "try_again_later",
            "timeout",
            "server_busy",
            "system_busy",
            "system_error",
            "overloaded"
        )
        + words(.denied, "Microsoft", "authorization_declined")
        + words(
            .codeExpired,
            for: .device,
            "GitHub, Twitch, OpenAM",
            "code_expired",
            "invalid_device_code",
            "incorrect_device_code"
        )
}
