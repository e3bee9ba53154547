import AccessTokenCore
import Foundation

/// Decides what one reply of the token endpoint means; pure, without network and clock.
struct TokenReplyReader {
    /// What was sent: no error shows it.
    let sent: SentSecrets
    /// What the app knows of its server's own ways.
    var failureMapping: (@Sendable (TokenEndpointReply) -> OAuthError?)?

    /// These say that the server cannot answer at present, whatever the status (RFC 6749, section 4.1.2.1; RFC 8628).
    private static let passingCodes: Set = ["temporarily_unavailable", "server_error", "slow_down"]

    /// The seconds by which RFC 8628, section 3.5, makes the interval longer.
    private static let shortestSlowDown: TimeInterval = 5

    init(secrets: [String], failureMapping: (@Sendable (TokenEndpointReply) -> OAuthError?)? = nil) {
        sent = SentSecrets(secrets)
        self.failureMapping = failureMapping
    }

    func read(_ reply: TokenEndpointReply, at now: Date) -> TokenReply {
        let members = TokenReplyMembers(reply.body)
        if members?.accessToken == nil, members?.refreshToken.value == nil, let error = failureMapping?(reply) {
            return TokenReply(.failure(error))
        }
        switch reply.status {
        case 200...299:
            guard let members else { return notUnderstood(reply, "it is not a JSON object") }
            return success(reply, members, at: now)
        case 301, 302, 303, 307, 308: return TokenReply(.failure(.redirected(status: reply.status)))
        case 408, 429, 500...599:
            // Any other code beside such a status says nothing of the token.
            let code = members?.error.value.flatMap { Self.passingCodes.contains($0) ? $0 : nil }
            return unavailable(reply, at: now, code: code)
        case 400...499: return refusal(reply, members, at: now)
        default: return notUnderstood(reply, "it has a status that no token reply has")
        }
    }

    /// A revocation is good with any success, and fails as an exchange does (RFC 7009, section 2.2).
    func readRevocation(_ reply: TokenEndpointReply, at now: Date) -> Result<Void, OAuthError> {
        guard !(200...299).contains(reply.status) else { return .success(()) }
        return read(reply, at: now).result.map { _ in }
    }

    private func success(_ reply: TokenEndpointReply, _ members: TokenReplyMembers, at now: Date) -> TokenReply {
        let refreshToken = members.refreshToken.value
        guard consists(refreshToken ?? "", of: 0x20...0x7E) else {
            return notUnderstood(reply, "the refresh token has characters that none may have")
        }
        func rescue(_ what: String) -> TokenReply { notUnderstood(reply, what, rescuing: refreshToken) }
        if members.error.value != nil {
            // GitHub, Slack and others refuse so. What comes with a token is neither.
            guard members.accessToken == nil, refreshToken == nil else {
                return rescue("it has an error beside a token")
            }
            return refusal(reply, members, at: now)
        }
        guard members.refreshToken != .strange else {
            return notUnderstood(reply, "the refresh token is neither text nor a number")
        }
        guard members.error != .strange else { return rescue("it has an error that is not text") }
        guard let value = members.accessToken else { return rescue("it has no access token") }
        guard consists(value, of: 0x21...0x7E) else {
            return rescue("the access token has characters that no header can carry")
        }
        // Servers that leave the type out mean Bearer; another type must not be used so (RFC 6749, section 7.1).
        guard (members.tokenType ?? "bearer").trimmingCharacters(in: .whitespaces).lowercased() == "bearer" else {
            return rescue("the type of the token is not Bearer")
        }
        let expiration = members.lifetime.map { now.addingTimeInterval($0) }
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
    private func refusal(_ reply: TokenEndpointReply, _ members: TokenReplyMembers?, at now: Date) -> TokenReply {
        guard let error = members?.error.value else {
            return notUnderstood(reply, reply.body.isEmpty ? "it is empty" : "it has no error code")
        }
        guard let code = sent.code(error) else { return notUnderstood(reply, "its error code is none") }
        guard !Self.passingCodes.contains(code) else { return unavailable(reply, at: now, code: code) }
        return TokenReply(.failure(.refused(code, explanation: members?.explanation.map(sent.readable))))
    }

    private func unavailable(_ reply: TokenEndpointReply, at now: Date, code: String?) -> TokenReply {
        var seconds = RetryAfter.seconds(reply.retryAfter, at: now)
        if code == "slow_down" { seconds = max(Self.shortestSlowDown, seconds ?? 0) }
        return TokenReply(.failure(.unavailable(status: reply.status, retryAfter: seconds, code: code)))
    }

    private func notUnderstood(_ reply: TokenEndpointReply, _ what: String, rescuing: String? = nil) -> TokenReply {
        TokenReply(.failure(.notUnderstood(status: reply.status, what)), rescuing: rescuing)
    }

    private func consists(_ text: String, of bytes: ClosedRange<UInt8>) -> Bool {
        text.utf8.allSatisfy(bytes.contains)
    }
}
