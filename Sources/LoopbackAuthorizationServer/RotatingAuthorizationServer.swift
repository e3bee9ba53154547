package import Foundation

/// A small authorization server on the loopback address that rotates refresh tokens, over real HTTP.
///
/// It punishes the reuse of a refresh token as RFC 9700, section 4.14.2, has it: the whole family is
/// revoked, the newest access token included. It has one public client, no user interface (a sign-in
/// is a method call), and one resource that wants an access token. Tokens run out when they are told
/// to, not by the clock, so that nobody has to wait for it.
package final class RotatingAuthorizationServer: Sendable {
    /// The identifier of the server's one client, which has no secret.
    package static let clientID = AuthorizationEndpoints.clientID

    private let endpoints: AuthorizationEndpoints
    private let transport: LoopbackHTTPServer

    /// Listens at once, and until ``stop()``.
    ///
    /// - Parameters:
    ///   - port: 0 lets the system choose one that is free.
    ///   - lifetime: what the server announces as the life of an access token, in seconds.
    ///   - latency: how long a request at the token endpoint takes at least, in seconds.
    ///   - onEvent: is called on the threads of the server, many at a time.
    /// - Throws: ``SocketError`` if the system does not give it a socket or the port is taken.
    package init(
        port: UInt16 = 0,
        lifetime: Int = 3600,
        latency: TimeInterval = 0,
        onEvent: @escaping @Sendable (AuthorizationServerEvent) -> Void = { _ in }
    ) throws(SocketError) {
        let endpoints = AuthorizationEndpoints(lifetime: lifetime, latency: latency, onEvent: onEvent)
        self.endpoints = endpoints
        transport = try LoopbackHTTPServer(
            port: port,
            answer: { request in endpoints.answer(request) },
            answerMalformed: { endpoints.answerMalformed() }
        )
    }

    /// The port that it listens on.
    package var port: UInt16 { transport.port }

    /// Where a refresh token is exchanged for a new pair.
    package var tokenEndpoint: URL { url(AuthorizationEndpoints.tokenPath) }

    /// What an access token is for.
    package var resource: URL { url(AuthorizationEndpoints.resourcePath) }

    /// What it has counted so far.
    package var tally: AuthorizationServerTally { endpoints.tally }

    /// Starts a new family, as if a user had signed in.
    package func signIn() -> TokenPair {
        endpoints.signIn()
    }

    /// Lets all access tokens issued so far run out now.
    package func expireAccessTokens() {
        endpoints.expireAccessTokens()
    }

    /// Whether the family's user would have to sign in again.
    package func isRevoked(family: Int) -> Bool {
        endpoints.isRevoked(family: family)
    }

    /// What to print instead of the value of a token; `nil` for one that the server did not issue.
    package func name(of token: String) -> TokenName? {
        endpoints.name(of: token)
    }

    /// Takes no more requests, lets the answers under way be sent, and returns when the port is free.
    package func stop() {
        transport.stop()
    }

    private func url(_ path: String) -> URL {
        var components = URLComponents()
        components.scheme = "http"
        components.host = "127.0.0.1"
        components.port = Int(port)
        components.path = path
        guard let url = components.url else { preconditionFailure("these components are always a URL") }
        return url
    }
}
