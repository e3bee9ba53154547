import Foundation

/// A client that is registered with the server (RFC 6749, section 2).
public struct AuthorizationServerClient: Hashable, Sendable, CustomStringConvertible {
    /// This machine, at any port (RFC 8252, section 7.3).
    private static let loopbackRedirectURIs = [
        "http://127.0.0.1/callback", "http://[::1]/callback", "http://localhost/callback",
    ]

    /// What the client calls itself: `client_id`.
    public let id: String
    let secret: String?
    private let redirectURIs: [String]

    /// A client without a secret, as apps are: it can log in, and refresh.
    ///
    /// - Parameters:
    ///   - id: the client's name, which it sends with each request.
    ///   - redirectURIs: where the client may send the browser: to the letter, but for the port of one that is on this
    ///     machine. `nil` is the path `/callback` of this machine, by either address or by name.
    public static func `public`(
        _ id: String,
        redirectURIs: [String]? = nil
    ) -> AuthorizationServerClient {
        AuthorizationServerClient(id: id, secret: nil, redirectURIs: redirectURIs ?? loopbackRedirectURIs)
    }

    /// A client with a secret, by Basic or in the body: it can log in and refresh, and has tokens of its own
    /// (`client_credentials`).
    public static func confidential(
        _ id: String,
        secret: String,
        redirectURIs: [String]? = nil
    ) -> AuthorizationServerClient {
        AuthorizationServerClient(id: id, secret: secret, redirectURIs: redirectURIs ?? loopbackRedirectURIs)
    }

    /// The identifier, and never the secret.
    public var description: String { id }

    func isRegistered(redirectURI: String) -> Bool {
        guard redirectURI.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return false }
        return redirectURIs.contains { registered in
            guard registered != redirectURI, let registered = Self.withoutPort(registered) else {
                return registered == redirectURI
            }
            return registered == Self.withoutPort(redirectURI)
        }
    }

    /// `nil` for what is not on this machine, where the port counts.
    private static func withoutPort(_ text: String) -> String? {
        guard var parts = URLComponents(string: text), parts.scheme == "http", parts.user == nil,
            ["127.0.0.1", "[::1]", "::1", "localhost"].contains(parts.percentEncodedHost)
        else { return nil }
        parts.port = nil
        return parts.string
    }
}
