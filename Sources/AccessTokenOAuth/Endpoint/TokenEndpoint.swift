public import AccessTokenAsync
public import AccessTokenCore
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A token endpoint, and a client that is registered there (RFC 6749, section 3.2).
///
/// ```swift
/// let endpoint = TokenEndpoint(url, authentication: .none(clientID: "app"))
/// let response = try await endpoint.exchange(.refreshToken(token))
/// ```
///
/// To keep a session alive use an ``OAuthLoader``, which saves what the server rotates; this is for the first exchange
/// of a session, and for grants that leave nothing to save.
///
/// **Concurrency** Can be used from any thread; each exchange is a connection of its own.
///
/// **Cancellation** None: a request that was sent may have spent the refresh token, and is seen through.
///
/// **Failure** ``OAuthError``; an error of the app's own client assertion, unchanged. Redirects are not followed, a
/// reply is read up to a megabyte, and nothing is sent twice.
///
/// On Linux `URLSession` needs `libcurl4`, and takes a proxy from the environment (`http_proxy`, `https_proxy`) also
/// for the loopback address, unless `no_proxy` exempts it. There all sessions of a process read in one queue, which a
/// server that sends a body without end as fast as memory can hold up, and it can fill some hundred megabytes before
/// reading stops; its own callers have their error long before.
public struct TokenEndpoint: Sendable {
    /// How many seconds a caller waits for a reply if nothing else is said: 30.
    public static let usualDeadline: TimeInterval = 30
    private static let longestDeadline: TimeInterval = 3600

    /// Where tokens are exchanged; a query of its own is kept.
    public let url: URL

    /// Where tokens are revoked (RFC 7009); `nil` if the server has no such place.
    public let revocationURL: URL?

    /// How the client proves who it is.
    public let authentication: ClientAuthentication

    /// How many seconds a caller waits for a reply.
    ///
    /// The exchange is not cancelled then. It ends by itself once the server has been silent for four times as long.
    public let deadline: TimeInterval

    /// Wall clock and timers.
    public let clock: any AccessTokenClock

    /// Whether a URL that is not `https` may be used; on the loopback address it always may.
    public var allowsInsecureHTTP = false

    /// Whether a 400 with nothing in it means `invalid_grant`, as it does on some servers.
    public var treatsEmptyRefusalAsInvalidGrant = false

    /// Creates a client of the endpoint.
    ///
    /// - Parameters:
    ///   - url: where tokens are exchanged.
    ///   - authentication: how the client proves who it is.
    ///   - revocationURL: where tokens are revoked.
    ///   - deadline: how many seconds a caller waits for a reply; up to an hour, and 30 for what makes no sense.
    ///   - clock: wall clock and timers.
    public init(
        _ url: URL,
        authentication: ClientAuthentication,
        revocationURL: URL? = nil,
        deadline: TimeInterval = TokenEndpoint.usualDeadline,
        clock: any AccessTokenClock = SystemTaskClock()
    ) {
        self.url = url
        self.authentication = authentication
        self.revocationURL = revocationURL
        self.deadline = deadline > 0 ? min(deadline, Self.longestDeadline) : Self.usualDeadline
        self.clock = clock
    }

    /// Exchanges a grant for a token.
    ///
    /// **Failure** ``OAuthError``. A refresh token can come without a response: with no usable access token, or after
    /// the deadline. Then the one that was sent is spent, and `rescue` is the only one to hear of its successor.
    ///
    /// - Parameters:
    ///   - grant: what to exchange.
    ///   - rescue: saves a refresh token that comes without a response; called on any thread, perhaps after the end.
    public func exchange(
        _ grant: TokenGrant,
        rescuing rescue: (@Sendable (_ refreshToken: String) -> Void)? = nil
    ) async throws -> TokenResponse {
        let exchange = try await start(grant) { reply, isLate in
            guard let token = isLate ? reply.refreshToken : reply.rescuedRefreshToken else { return }
            rescue?(token)
        }
        guard let reply = await exchange.reply(within: deadline, by: clock) else { throw OAuthError.timedOut }
        return try reply.result.get()
    }

    /// Exchanges a grant for a token, for callback code.
    ///
    /// - Parameters:
    ///   - grant: what to exchange.
    ///   - rescue: as in the async variant.
    ///   - handler: called once, on any thread.
    @available(*, renamed: "exchange(_:rescuing:)")
    public func exchange(
        _ grant: TokenGrant,
        rescuing rescue: (@Sendable (_ refreshToken: String) -> Void)? = nil,
        then handler: @escaping @Sendable (Result<TokenResponse, any Error>) -> Void
    ) {
        Task {
            do { handler(.success(try await exchange(grant, rescuing: rescue))) } catch { handler(.failure(error)) }
        }
    }

    /// Sends the request; the exchange that comes back ends with its reply, whoever still waits for it.
    func start(
        _ grant: TokenGrant,
        onReply: @escaping @Sendable (TokenReply, _ isLate: Bool) -> Void
    ) async throws -> OutstandingExchange<TokenReply> {
        let proof = try await authentication.proof(within: deadline, by: clock)
        let call = EndpointCall(url, parameters: grant.parameters, proof: proof)
        guard allowsInsecureHTTP || call.isSecure else { throw OAuthError.insecureEndpoint }
        let reader = TokenReplyReader(
            secrets: call.secrets,
            emptyRefusalIsInvalidGrant: treatsEmptyRefusalAsInvalidGrant
        )
        let exchange = OutstandingExchange<TokenReply>(onReply: onReply)
        call.send(idleLimit: deadline * 4) { [clock] result in
            switch result {
            case .success(let reply): exchange.settle(reader.read(reply, at: clock.now))
            case .failure(let error): exchange.settle(TokenReply(.failure(error)))
            }
        }
        return exchange
    }
}
