public import Foundation

/// What an exchange came to.
struct TokenReply: Sendable {
    let result: Result<TokenResponse, OAuthError>
    /// A refresh token that came without a usable access token: the one that was sent is spent, so it is saved.
    var rescuedRefreshToken: String?

    var error: OAuthError? {
        if case .failure(let error) = result { error } else { nil }
    }

    init(_ result: Result<TokenResponse, OAuthError>, rescuing refreshToken: String? = nil) {
        self.result = result
        rescuedRefreshToken = refreshToken
    }
}

/// A reply of the token endpoint, for ``TokenEndpoint/failureMapping``.
///
/// It prints no body: a server may repeat a secret there.
public struct TokenEndpointReply: Sendable {
    /// The status of the HTTP response.
    public let status: Int

    /// When to ask again, in the server's words.
    let retryAfter: String?

    /// The body, at most a megabyte.
    public let body: Data

    /// The body as text, without white space at either end.
    public var text: String {
        String(decoding: body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Creates a reply, to test a mapping with.
    public init(status: Int, body: Data) {
        self.init(status: status, retryAfter: nil, body: body)
    }

    init(status: Int, retryAfter: String?, body: Data) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}

extension TokenEndpointReply: CustomStringConvertible, CustomReflectable {
    /// The status, and how long the body is.
    public var description: String { "TokenEndpointReply(\(status), \(body.count) bytes)" }

    /// A mirror without the body: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["status": status], displayStyle: .struct) }
}
