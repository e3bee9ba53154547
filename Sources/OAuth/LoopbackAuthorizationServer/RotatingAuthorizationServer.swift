import AccessTokenSynchronization
public import Foundation
import OAuthFoundation

/// An authorization server for tests: on the loopback address, over real HTTP, with refresh tokens that rotate.
///
/// It punishes the reuse of a refresh token as RFC 9700, section 4.14.2, has it: the whole family is revoked, the
/// newest access token included. ``LoopbackAuthorizationServer`` shows a test with it.
///
/// **Concurrency** Can be used from any thread. The server has threads of its own, one for each connection.
public final class RotatingAuthorizationServer: Sendable {
    /// The identifier of the one client, which has no secret, where no other clients are named.
    public static let clientID = "loopback-client"

    private let endpoints: AuthorizationEndpoints
    private let transport: LoopbackHTTPServer

    /// Listens at once, and until ``stop()``.
    ///
    /// - Parameters:
    ///   - port: 0 lets the system choose one that is free.
    ///   - clients: who is registered; a refresh token is good for the client only that signed in.
    ///   - lifetime: what the server announces as the life of an access token, in seconds.
    ///   - grace: for how many seconds a spent refresh token is answered with what it was exchanged for, in place of
    ///     being punished; 0 is strict.
    ///   - latency: how long a request at the token endpoint takes at least, in seconds.
    ///   - deviceInterval: seconds between two questions of a device; one that asks sooner is told to slow down.
    ///   - requiresPushedRequests: whether a login has to send its request before the browser opens (RFC 9126).
    ///   - proofs: has the token endpoint and the resource ask for proofs of possession (DPoP, RFC 9449); `nil` asks for
    ///     none, and issues Bearer tokens.
    ///   - onEvent: is called on the threads of the server, many at a time.
    /// - Throws: ``SocketError`` if the system does not give it a socket or the port is taken.
    public init(
        port: UInt16 = 0,
        clients: [AuthorizationServerClient] = [.public(RotatingAuthorizationServer.clientID)],
        lifetime: Int = 3600,
        grace: TimeInterval = 0,
        latency: TimeInterval = 0,
        deviceInterval: Int = 1,
        requiresPushedRequests: Bool = false,
        proofs: ProofDemand? = nil,
        onEvent: @escaping @Sendable (AuthorizationServerEvent) -> Void = { _ in }
    ) throws(SocketError) {
        let endpoints = AuthorizationEndpoints(
            clients: clients,
            lifetime: lifetime,
            grace: grace,
            latency: latency,
            deviceInterval: deviceInterval,
            requiresPushedRequests: requiresPushedRequests,
            proofs: proofs,
            onEvent: onEvent
        )
        self.endpoints = endpoints
        do throws(SocketFailure) {
            transport = try LoopbackHTTPServer(port: port) { request, port in
                endpoints.answer(request, issuer: Self.issuer(port))
            }
        } catch {
            throw SocketError(call: error.call, code: error.code)
        }
    }

    /// The port that it listens on.
    public var port: UInt16 { transport.port }

    /// What the server calls itself; its metadata is at the usual places (RFC 8414, OpenID Connect Discovery).
    public var issuer: URL { url("") }

    /// Where a user's browser asks for a code: a page with a button for each of two users, and one that refuses.
    public var authorizationEndpoint: URL { url(LoginEndpoints.authorizationPath) }

    /// Where a login sends its request before the browser opens (RFC 9126).
    public var pushedAuthorizationEndpoint: URL { url(LoginEndpoints.pushPath) }

    /// Where a device asks for its codes (RFC 8628).
    public var deviceAuthorizationEndpoint: URL { url(LoginEndpoints.deviceAuthorizationPath) }

    /// Where a grant is exchanged for a pair of tokens.
    public var tokenEndpoint: URL { url(AuthorizationEndpoints.tokenPath) }

    /// Where a client revokes a token of its own, of either kind, and the token's family (RFC 7009).
    public var revocationEndpoint: URL { url(AuthorizationEndpoints.revocationPath) }

    /// What an access token is for.
    public var resource: URL { url(AuthorizationEndpoints.resourcePath) }

    /// Does what a user does on the page of an authorization request: agrees as `alice` or `bob`, or refuses (`nil`).
    ///
    /// - Returns: where the browser is sent then; `nil` if the request is one that the page does not take.
    public func redirect(for authorizationRequest: URL, user: String?) -> URL? {
        let query = URLComponents(url: authorizationRequest, resolvingAgainstBaseURL: true)?.percentEncodedQuery
        return endpoints.decide(query ?? "", user: user, issuer: Self.issuer(port)).flatMap { URL(string: $0) }
    }

    /// Does what a user does on the page for devices: agrees as `alice` or `bob`, or refuses (`nil`).
    ///
    /// - Returns: whether a device waits under this code.
    @discardableResult
    public func decide(userCode: String, user: String?) -> Bool {
        endpoints.decide(userCode: userCode, user: user)
    }

    /// Has the next requests fail: each takes the first fault that is left for its place.
    public func fail(_ faults: AuthorizationServerFault..., at place: AuthorizationServerFault.Place = .tokenEndpoint) {
        endpoints.state.withLock { $0.faults[place, default: []] += faults }
    }

    /// Has the token endpoint take so many requests more, and answer those that come after them 429 with `Retry-After`.
    ///
    /// The server does not look at the time: call this again when the seconds are over. `nil` ends the limit.
    public func limitTokenRequests(to count: Int?, retryAfter: Int = 1) {
        endpoints.state.withLock { $0.limit = count.map { ($0, retryAfter) } }
    }

    /// What it has counted so far.
    public var tally: AuthorizationServerTally { endpoints.state.withLock { $0.tally } }

    /// Starts a new family, as if a user had signed in with this client, or else with the first one.
    public func signIn(clientID: String? = nil) -> TokenPair {
        endpoints.state.withLock { state in
            state.tally.signIns += 1
            return state.ledger.signIn(clientID ?? endpoints.clients.first?.id ?? "")
        }
    }

    /// Lets all access tokens issued so far run out now.
    public func expireAccessTokens() {
        endpoints.state.withLock { $0.ledger.expireAccessTokens() }
    }

    /// Whether the family's user would have to sign in again.
    public func isRevoked(family: Int) -> Bool {
        endpoints.state.withLock { $0.ledger.isRevoked(family: family) }
    }

    /// What to print instead of the value of a token; `nil` for one that the server did not issue.
    public func name(of token: String) -> TokenName? {
        endpoints.state.withLock { $0.ledger.name(of: token) }
    }

    /// Takes no more requests, lets the answers under way be sent, and returns when the port is free.
    public func stop() {
        transport.stop()
    }

    private static func issuer(_ port: UInt16) -> String { "http://127.0.0.1:\(port)" }

    private func url(_ path: String) -> URL {
        guard let url = URL(string: Self.issuer(port) + path) else {
            preconditionFailure("an address and a path are always a URL")
        }
        return url
    }
}

/// What the server has counted since it started.
public struct AuthorizationServerTally: Hashable, Sendable {
    /// Requests at the token endpoint.
    public internal(set) var tokenRequests = 0
    /// Those among them that presented a refresh token that was spent.
    public internal(set) var reuses = 0
    /// Families that were signed in.
    public internal(set) var signIns = 0
    /// Requests whose proof of possession was refused, those without a good nonce included.
    public internal(set) var refusedProofs = 0
    /// Families that were revoked.
    public internal(set) var revokedFamilies = 0
}

/// What the server received or answered; tokens have names here, never values.
public enum AuthorizationServerEvent: Hashable, Sendable {
    /// A `POST` to the token endpoint; the name is that of the refresh token, if it is a known one.
    case tokenRequested(TokenName?)
    /// A user has decided on a page; `nil` refused.
    case userDecided(String?)
    /// The token endpoint issued a new pair.
    case tokenIssued(access: TokenName, refresh: TokenName)
    /// The token endpoint issued an access token to a client for itself (`client_credentials`).
    case clientTokenIssued(TokenName)
    /// The token endpoint refused with this code of RFC 6749, section 5.2.
    case tokenRefused(code: String)
    /// A refresh token was presented that was spent.
    case reuseDetected(TokenName)
    /// All tokens that descend from this sign-in were revoked.
    case familyRevoked(Int)
    /// A request for the resource; the name is that of the access token, if it is a known one.
    case resourceRequested(TokenName?)
    /// The resource answered 200.
    case resourceServed(TokenName)
    /// The resource answered 401.
    case resourceRefused(TokenName?)
    /// Something that is not a request, or none that the server answers.
    case requestRejected(status: Int)
}
