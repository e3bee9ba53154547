/// A client that is registered with the server (RFC 6749, section 2).
public struct AuthorizationServerClient: Hashable, Sendable, CustomStringConvertible {
    /// What the client calls itself: `client_id`.
    public let id: String
    let secret: String?

    /// A client without a secret, as apps are: it can refresh.
    public static func `public`(_ id: String) -> AuthorizationServerClient {
        AuthorizationServerClient(id: id, secret: nil)
    }

    /// A client with a secret, by Basic or in the body: it can refresh, and has tokens of its own (`client_credentials`).
    public static func confidential(_ id: String, secret: String) -> AuthorizationServerClient {
        AuthorizationServerClient(id: id, secret: secret)
    }

    /// The identifier, and never the secret.
    public var description: String { id }
}
