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
        + words(.sessionEnded, for: .renewal, "AWS IAM Identity Center, CreateToken; Baidu", "expired_token")
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
        words(.sessionEnded, "GitHub, orgs/community discussion 24745", "bad_refresh_token")
        + words(.sessionEnded, "Slack, tooling.tokens.rotate; Firebase, reference/rest/auth", "invalid_refresh_token")
        + words(.sessionEnded, for: .renewal, "Firebase, reference/rest/auth", "token_expired")
        + words(.sessionEnded, for: .renewal, "Slack, told by others", "token_revoked")
        + words(.sessionEnded, for: .renewal, "Zoho, told by others", "invalid_code")
        + words(
            .sessionEnded,
            for: .renewal,
            "Supabase, supabase/auth, errorcode.go",
            "session_not_found",
            "session_expired"
        )
        + words(.needsUser, "Auth0, authenticate-with-ropg-and-mfa", "mfa_required")
        + words(.needsUser, "Google, googleapis/google-auth-library-nodejs#1961", "invalid_rapt")
        + words(.needsUser, "Google, told by others", "rapt_required")
        + words(
            .needsUser,
            "Supabase, supabase/auth, errorcode.go",
            "insufficient_aal",
            "reauthentication_needed"
        )
        + words(.later, "RFC 6585, section 4; allegro/allegro-api#3374", "too_many_requests")
        + words(.later, "Slack, oauth.v2.exchange", "internal_error", "fatal_error")
        + words(
            .later,
            "Slack, told by others",
            "ratelimited",
            "rate_limited",
            "service_unavailable",
            "request_timeout"
        )
        + words(
            .later,
            "Supabase, supabase/auth, errorcode.go",
            "over_request_rate_limit",
            "unexpected_failure",
            "conflict"
        )
        + words(.later, "Google, google.rpc.Code", "resource_exhausted", "unavailable", "aborted", "internal")
        + words(.later, "Google, told by others", "internal_failure", "rate_limit_exceeded", "backend_error")
        + words(.later, "Keycloak, told by others", "unknown_error")
        + words(.later, "AWS IAM Identity Center, CreateToken", "InternalServerException")
        + words(.later, "AWS, told by others", "ThrottlingException", "LimitExceededException")
        + words(
            .later,
            "told by others",
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
        + words(.denied, "Microsoft, v2-oauth2-device-code", "authorization_declined")
        + words(.denied, "LinkedIn, authorization-code-flow; Apple, told by others", "user_cancelled_authorize")
        + words(.denied, "LinkedIn, authorization-code-flow", "user_cancelled_login")
        + words(.codeExpired, for: .device, "GitHub, authorizing-oauth-apps", "incorrect_device_code")
        + words(.codeExpired, for: .device, "Twitch, OpenAM, told by others", "code_expired", "invalid_device_code")
}
