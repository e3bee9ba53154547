import AccessTokenCore
import Foundation

/// Reads one reply of the token endpoint: the tokens, or an error that says what became of the request.
///
/// What a reply without a token means is decided by the app's mapping, then by the rules of a ``KnownServer``, then by
/// the ``ReplyVerdict``.
struct TokenReplyReader {
    /// What the app knows of its server's own ways.
    struct Ways: Sendable {
        /// In lower case.
        var tokenTypes: Set<String> = ["bearer"]
        var reply: (@Sendable (TokenEndpointReply) -> TokenResponse?)?
        var failure: (@Sendable (TokenEndpointReply) -> OAuthError?)?
        /// In place of ``failure``, for a device that polls.
        var deviceFailure: (@Sendable (TokenEndpointReply) -> OAuthError?)?
        var server: KnownServer?

        func takes(_ type: String) -> Bool {
            let type = type.trimmingCharacters(in: .whitespaces).lowercased()
            return tokenTypes.contains(type) || server?.tokenTypes.contains { $0.lowercased() == type } == true
        }
    }

    /// What was sent: no error shows it.
    let sent: SentSecrets
    var grant = GrantKind.other
    var ways = Ways()
    /// What an ID token has to say.
    var idToken: IDTokenCheck?
    /// Whether a proof of possession was sent (RFC 9449): the token is to be bound to its key.
    var isProved = false

    /// The seconds by which RFC 8628, section 3.5, makes the interval longer.
    private static let shortestSlowDown: TimeInterval = 5

    init(secrets: [String], grant: GrantKind = .other, ways: Ways = Ways(), isProved: Bool = false) {
        sent = SentSecrets(secrets)
        self.isProved = isProved
        self.grant = grant
        self.ways = ways
    }

    init(secrets: [String], of grant: TokenGrant, ways: Ways, isProved: Bool = false) {
        self.init(secrets: secrets, grant: grant.kind, ways: ways, isProved: isProved)
        idToken = grant.idToken
    }

    func read(_ reply: TokenEndpointReply) -> TokenReply {
        let isSuccess = (200...299).contains(reply.status)
        if isSuccess, let response = ways.reply?(reply) ?? ways.server?.response(from: reply) {
            return TokenReply(checking: response).checking(idToken, isRead: false, at: reply.moment)
        }
        let members = TokenReplyMembers(reply.body)
        let hasToken = members?.accessToken != nil || members?.refreshToken.value != nil
        if !hasToken, let error = mapped(reply) { return TokenReply(.failure(error)) }
        switch reply.status {
        case _ where isSuccess:
            let isStrange = members?.refreshToken == .strange && members?.error.value == nil
            guard let members, hasToken || isStrange else { return noToken(reply, members) }
            return success(reply, members).checking(idToken, isRead: true, at: reply.moment)
        case 301, 302, 303, 307, 308: return TokenReply(.failure(.redirected(status: reply.status)))
        case 100..<400: return notUnderstood(reply, "it has a status that no token reply has")
        default: return refusal(reply)
        }
    }

    /// A revocation is good with any success, and fails as an exchange does (RFC 7009, section 2.2).
    ///
    /// Some servers refuse a token that is revoked already, in the words with which they refuse to renew it. The word
    /// `invalid_grant` alone does not say that the token is dead: servers also refuse a token of another client with
    /// it, and that token lives on (RFC 7009, section 2.1; RFC 6749, section 5.2).
    func readRevocation(_ reply: TokenEndpointReply) -> Result<Void, any Error> {
        guard !(200...299).contains(reply.status) else { return .success(()) }
        let read = read(reply)
        guard let error = read.error, error.endsSession else { return read.result.map { _ in } }
        let texts = ReplyTexts(of: reply)
        let isDead = texts.texts.contains { ReplySentence($0.text).saysThatSessionEnded }
        let word = ReplyMeaning.sessionEnded.rawValue
        guard error.code == word, !isDead else { return .success(()) }
        // The user need not sign in again: the app names another client than at the login.
        return .failure(OAuthError.refused(word, .mistake, explanation: texts.explanation.map(sent.readable)))
    }

    // MARK: A token

    private func success(_ reply: TokenEndpointReply, _ members: TokenReplyMembers) -> TokenReply {
        let refreshToken = members.refreshToken.value
        guard members.refreshToken != .strange else {
            return notUnderstood(reply, "the refresh token is neither text nor a number")
        }
        guard refreshToken.map(TokenCharacters.canBeKept) ?? true else {
            return notUnderstood(reply, TokenCharacters.notKept)
        }
        func unusable(_ what: String, type: String? = nil) -> TokenReply {
            TokenReply(.failure(.unusableToken(what, type: type)), rescuing: refreshToken)
        }
        guard members.error == .none else { return unusable("it has an error beside a token") }
        guard let value = members.accessToken else { return unusable("it has no access token") }
        guard TokenCharacters.canBeSent(AccessToken(value: value)) else { return unusable(TokenCharacters.notSent) }
        if isProved, let type = members.tokenType, type.lowercased() != Proof.field.lowercased() {
            // RFC 9449, section 5: such a token is good for whoever has it.
            return unusable(
                "the token is not bound to the key: its type is \(sent.type(type) ?? "no word"), and not DPoP; have DPoP "
                    + "turned on for this client at the server, or leave the proofKeys out and let the user sign in again"
            )
        }
        // Servers that leave the type out mean the usual one; another must not be used so (RFC 6749, section 7.1).
        if !isProved, let type = members.tokenType, !ways.takes(type) {
            let name = sent.type(type) ?? "no word"
            return unusable("the type of the token is \(name); name it in the endpoint's tokenTypes", type: type)
        }
        let expiration = members.lifetime.map { reply.received.addingTimeInterval($0) }
        return TokenReply(
            .success(
                TokenResponse(
                    accessToken: AccessToken(value: value, expiration: expiration),
                    refreshToken: refreshToken,
                    scope: members.scope,
                    otherMembers: members.others
                )
            )
        )
    }

    // MARK: No token

    /// What the app or the server's own rules say.
    private func mapped(_ reply: TokenEndpointReply) -> OAuthError? {
        let mapping = grant == .device ? ways.deviceFailure ?? ways.failure : ways.failure
        if let error = mapping?(reply) { return error }
        guard let server = ways.server ?? KnownServer.recognised(in: reply) else { return nil }
        let texts = ReplyTexts(of: reply)
        return server.meaning(of: reply, for: grant).map { meaning in
            error(reply, texts, ReplyVerdict(meaning: meaning, word: texts.ownWord))
        }
    }

    /// A success without a token where tokens are: a refusal in other words, a page, or a reply of another shape.
    private func noToken(_ reply: TokenEndpointReply, _ members: TokenReplyMembers?) -> TokenReply {
        let texts = ReplyTexts(of: reply)
        let isObject = members != nil
        guard let members, !members.isEmpty else {
            guard isObject || !TokenTraces.areInText(reply.body) else {
                return notUnderstood(reply, "it is not a JSON object")
            }
            if let verdict = ReplyVerdict.of(reply, texts, for: grant), verdict.meaning != .mistake {
                return TokenReply(.failure(error(reply, texts, verdict)))
            }
            let what = reply.body.isEmpty ? "it is empty" : "it is not a JSON object, or has nothing in it"
            return TokenReply(.failure(.page(status: reply.status, what)))
        }
        // A token somewhere else may be the next refresh token. GitHub, Slack and others refuse by an error that is
        // text.
        guard members.error.value != nil || !TokenTraces.areInMembers(of: reply.body) else {
            return notUnderstood(reply, "it has no access token where one is looked for")
        }
        // A word that nobody knows, such as that of a status, is no refusal by itself.
        let isRefusal = members.error != .none || !texts.failures.isEmpty
        if let verdict = ReplyVerdict.of(reply, texts, for: grant), isRefusal || verdict.meaning != .mistake {
            return TokenReply(.failure(error(reply, texts, verdict)))
        }
        guard !isRefusal else {
            let word = texts.failures.lazy.compactMap(sent.code).first ?? "error"
            return TokenReply(.failure(error(reply, texts, ReplyVerdict(meaning: .mistake, word: word))))
        }
        return notUnderstood(reply, "it has no access token")
    }

    /// The body decides: servers do not agree on 400 or 401.
    private func refusal(_ reply: TokenEndpointReply) -> TokenReply {
        let texts = ReplyTexts(of: reply)
        let said = ProofReply(status: reply.status, body: reply.body, at: reply.received, reply.header)
        if isProved, said.refusal == .nonce {
            // It was sent with the server's last nonce, and the next request has another one.
            return TokenReply(.failure(unavailable(reply, texts, code: "use_dpop_nonce")))
        }
        guard let verdict = ReplyVerdict.of(reply, texts, for: grant) else {
            guard !reply.isHTML else { return TokenReply(.failure(.page(status: reply.status, "it is HTML"))) }
            let what = texts.hasError ? "its error code is none" : "it has no error code"
            return notUnderstood(reply, reply.body.isEmpty ? "it is empty" : what)
        }
        return TokenReply(.failure(error(reply, texts, verdict)))
    }

    /// An error shows the server's word, unless that has in it what was sent.
    private func error(_ reply: TokenEndpointReply, _ texts: ReplyTexts, _ verdict: ReplyVerdict) -> OAuthError {
        let code = verdict.word.flatMap(sent.code)
        switch verdict.meaning {
        case .later:
            return unavailable(reply, texts, code: code)
        case .slowDown:
            return unavailable(reply, texts, code: ReplyMeaning.slowDown.rawValue)
        default:
            let explanation = texts.explanation.map(sent.readable)
            return .refused(code ?? verdict.meaning.rawValue, verdict.meaning, explanation: explanation)
        }
    }

    private func unavailable(_ reply: TokenEndpointReply, _ texts: ReplyTexts, code: String?) -> OAuthError {
        var seconds = reply.retryAfter ?? texts.retryAfter ?? LimitReset.seconds(reply)
        if code == "slow_down" { seconds = max(Self.shortestSlowDown, seconds ?? 0) }
        return .unavailable(status: reply.status, retryAfter: seconds, code: code)
    }

    private func notUnderstood(_ reply: TokenEndpointReply, _ what: String) -> TokenReply {
        TokenReply(.failure(.notUnderstood(status: reply.status, what)))
    }
}
