import AccessTokenCore
import Foundation

/// Decides what one reply of the token endpoint means; pure, without network and clock.
struct TokenReplyReader {
    /// What the app knows of its server's own ways.
    struct Ways: Sendable {
        /// In lower case.
        var tokenTypes: Set<String> = ["bearer"]
        var reply: (@Sendable (TokenEndpointReply) -> TokenResponse?)?
        var failure: (@Sendable (TokenEndpointReply) -> OAuthError?)?

        func takes(_ type: String) -> Bool {
            tokenTypes.contains(type.trimmingCharacters(in: .whitespaces).lowercased())
        }
    }

    /// What was sent: no error shows it.
    let sent: SentSecrets
    var ways = Ways()

    /// These say that the server cannot answer at present, whatever the status (RFC 6749, section 4.1.2.1; RFC 8628).
    private static let passingCodes: Set = ["temporarily_unavailable", "server_error", "slow_down"]

    /// The seconds by which RFC 8628, section 3.5, makes the interval longer.
    private static let shortestSlowDown: TimeInterval = 5

    init(secrets: [String], ways: Ways = Ways()) {
        sent = SentSecrets(secrets)
        self.ways = ways
    }

    func read(_ reply: TokenEndpointReply) -> TokenReply {
        let isSuccess = (200...299).contains(reply.status)
        if isSuccess, let response = ways.reply?(reply) { return TokenReply(checking: response) }
        let members = TokenReplyMembers(reply.body)
        if members?.accessToken == nil, members?.refreshToken.value == nil, let error = ways.failure?(reply) {
            return TokenReply(.failure(error))
        }
        switch reply.status {
        case _ where isSuccess:
            guard let members else { return notUnderstood(reply, "it is not a JSON object") }
            return success(reply, members)
        case 301, 302, 303, 307, 308: return TokenReply(.failure(.redirected(status: reply.status)))
        case 408, 429, 500...599:
            // Any other code beside such a status says nothing of the token.
            let code = members?.error.value.flatMap { Self.passingCodes.contains($0) ? $0 : nil }
            return unavailable(reply, code: code)
        case 400...499: return refusal(reply, members)
        default: return notUnderstood(reply, "it has a status that no token reply has")
        }
    }

    /// A revocation is good with any success, and fails as an exchange does (RFC 7009, section 2.2).
    func readRevocation(_ reply: TokenEndpointReply) -> Result<Void, any Error> {
        guard !(200...299).contains(reply.status) else { return .success(()) }
        return read(reply).result.map { _ in }
    }

    private func success(_ reply: TokenEndpointReply, _ members: TokenReplyMembers) -> TokenReply {
        let refreshToken = members.refreshToken.value
        let hasToken = members.accessToken != nil || refreshToken != nil
        // GitHub, Slack and others refuse so. What comes with a token is neither.
        if members.error.value != nil, !hasToken { return refusal(reply, members) }
        guard members.refreshToken != .strange else {
            return notUnderstood(reply, "the refresh token is neither text nor a number")
        }
        guard consists(refreshToken ?? "", of: 0x20...0x7E) else {
            return notUnderstood(reply, "the refresh token has characters that none may have")
        }
        guard hasToken else {
            return notUnderstood(
                reply,
                members.error == .none ? "it has no access token" : "it has an error that is not text"
            )
        }
        func unusable(_ what: String, type: String? = nil) -> TokenReply {
            TokenReply(.failure(.unusableToken(what, type: type)), rescuing: refreshToken)
        }
        guard members.error == .none else { return unusable("it has an error beside a token") }
        guard let value = members.accessToken else { return unusable("it has no access token") }
        guard consists(value, of: 0x21...0x7E) else {
            return unusable("the access token has characters that no header can carry")
        }
        // Servers that leave the type out mean Bearer; another type must not be used so (RFC 6749, section 7.1).
        if let type = members.tokenType, !ways.takes(type) {
            let name = sent.code(type) ?? "no word"
            return unusable("the type of the token is \(name); name it in the endpoint's tokenTypes", type: name)
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

    /// The body decides: servers do not agree on 400 or 401.
    private func refusal(_ reply: TokenEndpointReply, _ members: TokenReplyMembers?) -> TokenReply {
        guard let error = members?.error.value else {
            return notUnderstood(reply, reply.body.isEmpty ? "it is empty" : "it has no error code")
        }
        guard let code = sent.code(error) else { return notUnderstood(reply, "its error code is none") }
        guard !Self.passingCodes.contains(code) else { return unavailable(reply, code: code) }
        return TokenReply(.failure(.refused(code, explanation: members?.explanation.map(sent.readable))))
    }

    private func unavailable(_ reply: TokenEndpointReply, code: String?) -> TokenReply {
        var seconds = reply.retryAfter
        if code == "slow_down" { seconds = max(Self.shortestSlowDown, seconds ?? 0) }
        return TokenReply(.failure(.unavailable(status: reply.status, retryAfter: seconds, code: code)))
    }

    private func notUnderstood(_ reply: TokenEndpointReply, _ what: String) -> TokenReply {
        TokenReply(.failure(.notUnderstood(status: reply.status, what)))
    }

    private func consists(_ text: String, of bytes: ClosedRange<UInt8>) -> Bool {
        text.utf8.allSatisfy(bytes.contains)
    }
}
