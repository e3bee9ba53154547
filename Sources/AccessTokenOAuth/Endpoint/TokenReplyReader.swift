import AccessTokenCore
import Foundation

/// Makes out what a reply of the token endpoint means.
///
/// Pure: no network, no clock.
struct TokenReplyReader {
    /// What was sent and must appear in no error, also if the server repeats it.
    let secrets: [String]
    /// Some servers say `invalid_grant` by a 400 with nothing in it.
    let emptyRefusalIsInvalidGrant: Bool

    func read(_ reply: EndpointReply, at now: Date) -> TokenReply {
        switch reply.status {
        case 200...299: success(reply, at: now)
        case 300...399: TokenReply(.failure(.redirected(status: reply.status)))
        case 400...499 where reply.status != 408 && reply.status != 429: refusal(reply, at: now)
        default: unavailable(reply, at: now)
        }
    }

    /// A revocation is good with any success, and fails as an exchange does (RFC 7009, section 2.2).
    func readRevocation(_ reply: EndpointReply, at now: Date) -> Result<Void, OAuthError> {
        guard !(200...299).contains(reply.status) else { return .success(()) }
        return read(reply, at: now).result.map { _ in }
    }

    private func unavailable(_ reply: EndpointReply, at now: Date) -> TokenReply {
        let seconds = RetryAfter.seconds(reply.retryAfter, at: now)
        return TokenReply(.failure(.unavailable(status: reply.status, retryAfter: seconds)))
    }

    private func success(_ reply: EndpointReply, at now: Date) -> TokenReply {
        guard let members = members(of: reply) else { return notUnderstood(reply, "it is not a JSON object") }
        if let refreshToken = members.refreshToken, !consists(refreshToken, of: 0x20...0x7E) {
            return notUnderstood(reply, "the refresh token has characters that none may have")
        }
        func rescue(_ what: String) -> TokenReply {
            notUnderstood(reply, what, rescuing: members.refreshToken)
        }
        if let error = members.error { return rescue("it says \(readable(error)) as if that were a success") }
        guard !members.hasStrangeError else { return rescue("it has an error that is not text") }
        guard let value = members.accessToken else { return rescue("it has no access token") }
        guard consists(value, of: 0x21...0x7E) else {
            return rescue("the access token has characters that no header can carry")
        }
        // Servers that leave the type out mean Bearer; another type must not be used so (RFC 6749, section 7.1).
        guard (members.tokenType ?? "bearer").lowercased() == "bearer" else {
            return rescue("the type of the token is not Bearer")
        }
        let expiration = members.lifetime.map { now.addingTimeInterval($0) }
        return TokenReply(
            .success(
                TokenResponse(
                    accessToken: AccessToken(value: value, expiration: expiration),
                    refreshToken: members.refreshToken,
                    scope: members.scope
                )
            )
        )
    }

    /// The body decides: servers do not agree on 400 or 401.
    private func refusal(_ reply: EndpointReply, at now: Date) -> TokenReply {
        guard let error = members(of: reply)?.error else {
            let isEmpty = reply.status == 400 && reply.body.isEmpty
            if isEmpty && emptyRefusalIsInvalidGrant { return TokenReply(.failure(.refused("invalid_grant"))) }
            return notUnderstood(reply, isEmpty ? "it is empty" : "it has no error code")
        }
        let code = readable(error)
        // Meant for the redirect of the authorization endpoint, and sent here as well.
        guard code != "temporarily_unavailable" && code != "server_error" && code != "slow_down" else {
            return unavailable(reply, at: now)
        }
        let explanation = members(of: reply)?.explanation.map(readable)
        return TokenReply(.failure(.refused(code, explanation: explanation)))
    }

    private func members(of reply: EndpointReply) -> TokenReplyMembers? {
        try? JSONDecoder().decode(TokenReplyMembers.self, from: reply.body)
    }

    private func notUnderstood(_ reply: EndpointReply, _ what: String, rescuing token: String? = nil) -> TokenReply {
        TokenReply(.failure(.notUnderstood(status: reply.status, what)), rescuing: token)
    }

    private func consists(_ text: String, of bytes: ClosedRange<UInt8>) -> Bool {
        text.utf8.allSatisfy(bytes.contains)
    }

    /// The server's words without what was sent to it, without control characters, and not too many of them.
    private func readable(_ text: String) -> String {
        // First what is not to be seen, which could stand in the middle of a secret and hide it from the search.
        var result = printable(text)
        // Shorter than this, nothing is a secret, and half of every explanation would be hidden. The longest first: of a
        // token whose beginning is a secret as well, the rest would stay.
        let secrets = secrets.filter { $0.utf8.count > 3 }.sorted { $0.utf8.count > $1.utf8.count }
        for secret in secrets {
            result = result.replacingOccurrences(of: printable(secret), with: "<hidden>")
            result = result.replacingOccurrences(of: FormEncoding.encoded(secret), with: "<hidden>")
        }
        return String(String.UnicodeScalarView(result.unicodeScalars.prefix(200)))
    }

    private func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
            default: true
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
