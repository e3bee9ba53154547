import AccessTokenCore
public import Foundation

/// A reply of the token endpoint, for ``TokenEndpoint/failureMapping``.
///
/// It prints no body: a server may repeat a secret there.
public struct TokenEndpointReply: Sendable {
    /// The status of the HTTP response.
    public let status: Int

    /// The body, at most a megabyte.
    public let body: Data

    /// The body as text, without white space at either end.
    public var text: String {
        String(decoding: body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Creates a reply, to test a mapping with.
    public init(status: Int, body: Data) {
        self.status = status
        self.body = body
    }
}

extension TokenEndpointReply: CustomStringConvertible, CustomReflectable {
    /// The status, and how long the body is.
    public var description: String { "TokenEndpointReply(\(status), \(body.count) bytes)" }

    /// A mirror without the body, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["status": status], displayStyle: .struct) }
}

/// Makes out what a reply of the token endpoint means.
///
/// Pure: no network, no clock.
struct TokenReplyReader {
    /// What was sent and must appear in no error, also if the server repeats it.
    let secrets: [String]
    /// What the app knows of its server's own ways.
    var failureMapping: (@Sendable (TokenEndpointReply) -> OAuthError?)?

    func read(_ reply: EndpointReply, at now: Date) -> TokenReply {
        if let failureMapping, !bringsToken(reply) {
            let unread = TokenEndpointReply(status: reply.status, body: reply.body)
            if let error = failureMapping(unread) { return TokenReply(.failure(error)) }
        }
        switch reply.status {
        case 200...299: return success(reply, at: now)
        case 300...399: return TokenReply(.failure(.redirected(status: reply.status)))
        case 400...499 where reply.status != 408 && reply.status != 429: return refusal(reply, at: now)
        case 400...599:
            return unavailable(reply, at: now, code: members(of: reply)?.error.flatMap(passingCode))
        default: return notUnderstood(reply, "it has a status that no reply has")
        }
    }

    /// A revocation is good with any success, and fails as an exchange does (RFC 7009, section 2.2).
    func readRevocation(_ reply: EndpointReply, at now: Date) -> Result<Void, OAuthError> {
        guard !(200...299).contains(reply.status) else { return .success(()) }
        return read(reply, at: now).result.map { _ in }
    }

    private func unavailable(_ reply: EndpointReply, at now: Date, code: String? = nil) -> TokenReply {
        var seconds = RetryAfter.seconds(reply.retryAfter, at: now)
        if code == "slow_down" { seconds = max(Self.shortestSlowDown, seconds ?? 0) }
        return TokenReply(.failure(.unavailable(status: reply.status, retryAfter: seconds, code: code)))
    }

    /// The seconds by which RFC 8628, section 3.5, makes the interval longer.
    private static let shortestSlowDown: TimeInterval = 5

    private func success(_ reply: EndpointReply, at now: Date) -> TokenReply {
        guard let members = members(of: reply) else { return notUnderstood(reply, "it is not a JSON object") }
        if let refreshToken = members.refreshToken, !consists(refreshToken, of: 0x20...0x7E) {
            return notUnderstood(reply, "the refresh token has characters that none may have")
        }
        func rescue(_ what: String) -> TokenReply {
            notUnderstood(reply, what, rescuing: members.refreshToken)
        }
        if members.error != nil {
            // GitHub, Slack and others refuse so. What comes with a token is neither.
            guard members.accessToken == nil, members.refreshToken == nil else {
                return rescue("it has an error beside a token")
            }
            return refusal(reply, at: now)
        }
        guard !members.hasStrangeRefreshToken else {
            return notUnderstood(reply, "the refresh token is neither text nor a number")
        }
        guard !members.hasStrangeError else { return rescue("it has an error that is not text") }
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
                    refreshToken: members.refreshToken,
                    scope: members.scope,
                    otherMembers: JSONMembers.text(of: reply.body, unless: TokenReplyMembers.knows)
                )
            )
        )
    }

    /// The body decides: servers do not agree on 400 or 401.
    private func refusal(_ reply: EndpointReply, at now: Date) -> TokenReply {
        let members = members(of: reply)
        guard let error = members?.error else {
            return notUnderstood(reply, reply.body.isEmpty ? "it is empty" : "it has no error code")
        }
        guard let code = code(error) else { return notUnderstood(reply, "its error code is none") }
        // Meant for the redirect of the authorization endpoint, and sent here as well.
        guard !Self.passingCodes.contains(code) else {
            return unavailable(reply, at: now, code: code)
        }
        return TokenReply(.failure(.refused(code, explanation: members?.explanation.map(readable))))
    }

    private func bringsToken(_ reply: EndpointReply) -> Bool {
        guard let members = members(of: reply) else { return false }
        return members.accessToken != nil || members.refreshToken != nil
    }

    private func members(of reply: EndpointReply) -> TokenReplyMembers? {
        guard var members = try? JSONDecoder().decode(TokenReplyMembers.self, from: reply.body) else { return nil }
        if members.hasStrangeRefreshToken {
            // As it stands: a decoder would give the number back in other digits.
            let text = JSONMembers.text(of: reply.body) { $0 != TokenReplyMembers.refreshTokenName }
            members.takeNumber(text[TokenReplyMembers.refreshTokenName])
        }
        return members
    }

    private func notUnderstood(_ reply: EndpointReply, _ what: String, rescuing token: String? = nil) -> TokenReply {
        TokenReply(.failure(.notUnderstood(status: reply.status, what)), rescuing: token)
    }

    private func consists(_ text: String, of bytes: ClosedRange<UInt8>) -> Bool {
        text.utf8.allSatisfy(bytes.contains)
    }

    /// What RFCs register for the endpoints of this product, and what stands for `invalid_grant` elsewhere.
    ///
    /// Everybody knows these words: a secret that one of them contains is not given away by it.
    private static let registeredCodes: Set = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope", "access_denied", "server_error", "temporarily_unavailable", "invalid_token",
        "insufficient_scope", "unsupported_token_type", "authorization_pending", "slow_down", "expired_token",
        "invalid_target", "invalid_dpop_proof", "use_dpop_nonce", "bad_refresh_token", "invalid_refresh_token",
    ]

    /// These say that the server cannot answer at present; any other code beside such a status says nothing of the token.
    private static let passingCodes: Set = ["temporarily_unavailable", "server_error", "slow_down"]

    private func passingCode(_ text: String) -> String? {
        Self.passingCodes.contains(text) ? text : nil
    }

    /// The code, which errors print: it must look like a code, and have nothing in it of what was sent.
    ///
    /// - Returns: `nil` for what cannot be a code.
    private func code(_ text: String) -> String? {
        guard !Self.registeredCodes.contains(text) else { return text }
        let characters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.".utf8)
        guard text.utf8.count <= 64, text.utf8.allSatisfy(characters.contains) else { return nil }
        let shown = text.lowercased()
        let isEcho = secrets.contains { secret in
            guard secret.utf8.count > 3 else { return shown == secret.lowercased() }
            let base64 = String(Data(secret.utf8).base64EncodedString().prefix { $0 != "=" })
            return [secret, base64, base64.replacing("+", with: "-").replacing("/", with: "_")]
                .contains { shown.contains($0.lowercased()) }
        }
        return isEcho ? "<hidden>" : text
    }

    /// The server's words without what was sent to it, without control characters, and not too many of them.
    private func readable(_ text: String) -> String {
        // First what is not to be seen, which could stand in the middle of a secret and hide it from the search.
        var result = Self.printable(text)
        // Shorter than this, nothing is a secret, and half of every explanation would be hidden. The longest first: of a
        // token whose beginning is a secret as well, the rest would stay.
        let secrets = secrets.filter { $0.utf8.count > 3 }.sorted { $0.utf8.count > $1.utf8.count }
        for secret in secrets {
            result = result.replacingOccurrences(of: Self.printable(secret), with: "<hidden>")
            result = result.replacingOccurrences(of: FormEncoding.encoded(secret), with: "<hidden>")
        }
        return String(String.UnicodeScalarView(result.unicodeScalars.prefix(Self.longestText)))
    }

    private static let longestText = 200

    /// Text of somebody else without what does not show in a log, or breaks its lines.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
            default: true
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

/// What an exchange came to.
struct TokenReply: Sendable {
    let result: Result<TokenResponse, OAuthError>

    /// A refresh token that came without an access token that can be used: the one that was sent is spent, so that it
    /// must be saved all the same.
    var rescuedRefreshToken: String?

    /// Every refresh token that came.
    var refreshToken: String? { (try? result.get())?.refreshToken ?? rescuedRefreshToken }

    var error: OAuthError? {
        if case .failure(let error) = result { error } else { nil }
    }

    init(_ result: Result<TokenResponse, OAuthError>, rescuing refreshToken: String? = nil) {
        self.result = result
        rescuedRefreshToken = refreshToken
    }
}

/// Reads the `Retry-After` field: seconds, or a date in one of three forms (RFC 9110, sections 10.2.3 and 5.6.7).
enum RetryAfter {
    /// A server that asks for more than a day is not believed.
    private static let longest: TimeInterval = 86_400

    /// No date of these forms is longer.
    private static let longestDate = 40

    /// How many commas are looked at.
    private static let mostParts = 16

    /// Made once: to make a formatter takes longer than to read a whole reply.
    private static let formatters = [
        "EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy",
    ].map { format in
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = format
        return formatter
    }

    /// Seconds from `now`, 0 for a date that has passed, `nil` for what makes no sense; of several fields the longest.
    static func seconds(_ field: String?, at now: Date) -> TimeInterval? {
        // Fields of one name come as one with commas (RFC 9110, section 5.3), and a date may have a comma of its own.
        let parts = (field ?? "").split(separator: ",", maxSplits: mostParts).map(String.init)
        let dates = zip(parts, parts.dropFirst()).map { "\($0),\($1)" }
        return (parts + dates).compactMap { seconds(of: $0, at: now) }.max()
    }

    private static func seconds(of value: String, at now: Date) -> TimeInterval? {
        let field = value.trimmingCharacters(in: .whitespaces)
        guard !field.isEmpty else { return nil }
        let seconds = field.utf8.allSatisfy { (48...57).contains($0) } ? TimeInterval(field) : secondsUntil(field, now)
        guard let seconds, seconds <= longest else { return nil }
        return max(0, seconds)
    }

    private static func secondsUntil(_ text: String, _ now: Date) -> TimeInterval? {
        // On Linux the formatter traps at some characters beyond ASCII, which no date of these forms has.
        guard text.utf8.count <= longestDate, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return formatters.lazy.compactMap { $0.date(from: text) }.first?.timeIntervalSince(now)
    }
}
