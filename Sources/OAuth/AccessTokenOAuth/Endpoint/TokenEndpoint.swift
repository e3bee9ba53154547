public import AccessTokenSynchronization
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
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
/// **Concurrency** Can be used from any thread; each exchange is a connection of its own. Make one endpoint, and give
/// it to the loaders of all accounts: its copies share one line. Fifty exchanges are in flight at most, and the others
/// wait for their turn; the deadline of an exchange begins when it has its turn. Two replies in a row with 429 or 503,
/// and `Retry-After`, have all of them wait for that long.
///
/// **Cancellation** Of a call that waits for its turn: `CancellationError`. A request that was sent may have spent the
/// refresh token, and is seen through.
///
/// **Failure** ``OAuthError``; an error of the app's own client assertion, unchanged. Redirects are not followed, a
/// reply is read up to a megabyte, and nothing is sent twice but what the server has refused for its proof alone
/// (<doc:ProofOfPossession>). <doc:ThreatModel> has the limits of `URLSession` on Linux.
public struct TokenEndpoint: Sendable {
    /// How many seconds a caller waits for a reply if nothing else is said: the number in the signatures.
    package static let usualDeadline: TimeInterval = 30
    private static let longestDeadline: TimeInterval = 3600

    /// Where tokens are exchanged; a query of its own is kept.
    public var url: URL

    /// Where tokens are revoked (RFC 7009); `nil` if the server has no such place.
    public var revocationURL: URL?

    /// How the client proves who it is.
    public var authentication: ClientAuthentication

    /// How many seconds a caller waits for a reply; a ``DeviceLogin`` waits for four times as long.
    ///
    /// The exchange is not cancelled then. It ends by itself after four times as long. A caller whose exchange waits
    /// for its turn is told, after as many seconds in which the server has answered nobody, that it is unreachable.
    public let deadline: TimeInterval

    /// Seconds after which the connection ends, also if the server trickles: no reply can come any more, unless the
    /// process was stopped.
    var replyLimit: TimeInterval { deadline * 4 }

    /// Wall clock and timers.
    public let clock: any AccessTokenClock

    /// Whether a URL that is not `https` may be used; on the loopback address it always may.
    public var allowsInsecureHTTP = false

    /// The types of access token that are taken, in any case: `Bearer`, unless something else is said.
    ///
    /// A reply whose token is of another type is an error (RFC 6749, section 7.1). A reply that names no type is taken.
    /// Add the words of a server that means Bearer by them, such as Slack's `bot` and `user`; the sessions send every
    /// token as `Bearer`.
    public var tokenTypes: Set<String> = ["Bearer"]

    /// Reads a successful reply (2xx) whose tokens are not where RFC 6749, section 5.1, has them.
    ///
    /// It is asked first; `nil` leaves the reply to the usual reading. What it returns is checked as any reply: an
    /// access token that no header can carry is an error, and the refresh token beside it is saved.
    ///
    /// ```swift
    /// endpoint.replyMapping = { reply in
    ///     TokenResponse(members: reply.members(of: "body"), received: reply.received)
    /// }
    /// ```
    public var replyMapping: (@Sendable (TokenEndpointReply) -> TokenResponse?)?

    /// Says what a reply without a token means, for a server that does not say it as RFC 6749, section 5.2, does.
    ///
    /// It is asked before the reply is read in the usual way; `nil` leaves the reply to that.
    /// `.refused("invalid_grant")` removes the credential for ever. Return it only for a reply that can mean nothing
    /// else: some servers answer a wrong client secret and a dead refresh token with the same empty 400.
    /// `.refused("login_required")` asks for a login too, and keeps the credential. <doc:Servers> has mappings for
    /// known servers.
    ///
    /// ```swift
    /// endpoint.failureMapping = { reply in
    ///     reply.status == 403 && reply.text == "session closed" ? .refused("invalid_grant") : nil
    /// }
    /// ```
    public var failureMapping: (@Sendable (TokenEndpointReply) -> OAuthError?)?

    /// Says what a reply without a token means to a device that polls, in place of ``failureMapping``.
    ///
    /// What a server says until the user has decided, it may say of a refresh token in another sense.
    /// `.refused("authorization_pending")` asks again, `.refused("slow_down")` more slowly. `.refused("access_denied")`
    /// and `.refused("expired_token")` end the login (RFC 8628, section 3.5). `nil` here has device logins ask
    /// ``failureMapping``.
    public var deviceFailureMapping: (@Sendable (TokenEndpointReply) -> OAuthError?)?

    /// The server's own ways, where it is a ``KnownServer``: where the tokens are, their types, and its words.
    ///
    /// The mappings above are asked first.
    public var server: KnownServer?

    /// Makes and reads keys, for a server that binds tokens to a key of the client (DPoP, RFC 9449).
    ///
    /// Each login then makes a key, and the credential's record keeps it. Every request with that credential has a
    /// proof of the key. `nil` sends no proof. A session that began without a key goes on without one until the next
    /// login. <doc:ProofOfPossession> has the whole way.
    public var proofKeys: ProofKeys?

    /// Answers challenges of the endpoint's connections: pinning, a private authority, a client certificate (mTLS).
    ///
    /// `nil` leaves them to the system. HTTP Basic and Digest of a server are always refused: they are the server's way
    /// to say that the client is not known. Those of a proxy are answered like any other challenge. On Linux
    /// `URLSession` does not ask: install a private authority in the system's bundle there (`update-ca-certificates`);
    /// client certificates are not supported.
    public var challengeHandler: URLAuthenticationChallengeHandler? {
        get { transport.challengeHandler }
        set { transport.challengeHandler = newValue }
    }

    /// The configuration of the endpoint's connections: a proxy, TLS versions, additional header fields.
    ///
    /// It is copied. Cookies, caches and stored passwords are never used, and the time-outs are the endpoint's own. Its
    /// `httpMaximumConnectionsPerHost`, 6 if you do not change that, takes the place of the fifty exchanges in flight.
    /// Set it before you give the endpoint to a loader. Setting it makes a new line, which the loader would not share.
    public var configuration: URLSessionConfiguration? {
        get { transport.configuration?.copy() as? URLSessionConfiguration }
        set {
            transport.configuration = newValue?.copy() as? URLSessionConfiguration
            let limit = newValue?.httpMaximumConnectionsPerHost ?? ExchangeLine.usualLimit
            gate = ExchangeGate(limit: limit, patience: deadline, clock: clock)
        }
    }

    /// Shared by all copies.
    private(set) var gate: ExchangeGate

    private(set) var transport = EndpointTransport()

    /// Shared by all copies.
    private(set) var proofMemory = ProofMemory()

    /// Creates a client of the endpoint; `deadline` is at most an hour, and 30 seconds for what makes no sense.
    public init(
        _ url: URL,
        authentication: ClientAuthentication,
        revocationURL: URL? = nil,
        deadline: TimeInterval = 30,
        clock: any AccessTokenClock = SystemClock()
    ) {
        self.url = url
        self.authentication = authentication
        self.revocationURL = revocationURL
        self.deadline = Self.sensible(deadline)
        self.clock = clock
        gate = ExchangeGate(patience: self.deadline, clock: clock)
        transport.clock = clock
    }

    static func sensible(_ deadline: TimeInterval) -> TimeInterval {
        deadline > 0 ? min(deadline, longestDeadline) : usualDeadline
    }

    /// Exchanges a grant for a token.
    ///
    /// **Failure** ``OAuthError``. A refresh token's successor may come without an access token, or after the deadline:
    /// only an ``OAuthLoader`` saves it then, also if this is called by the closure of its ``TokenExchange``.
    public func exchange(_ grant: TokenGrant) async throws -> TokenResponse {
        try await exchange(grant, within: deadline)
    }

    /// - Parameter limit: how many seconds the caller waits; `nil` waits until the exchange has ended by itself.
    func exchange(_ grant: TokenGrant, within limit: TimeInterval?) async throws -> TokenResponse {
        // Inside of an app's own exchange, the loader wants to know of the reply as well, and knows the key.
        let relay = ExchangeRelay.current?.relaying(grant)
        let grant = try relay.flatMap { try key(of: $0.credential) }.map { grant.bound(to: $0) } ?? grant
        let turn = try await gate.turn(.other)
        relay?.begin()
        // The connection may last longer than the caller waits.
        let exchange = OutstandingExchange<TokenReply> { reply, _ in
            turn.end()
            relay?.end(with: reply)
        }
        do {
            try await send(grant, settling: exchange)
        } catch {
            relay?.end(with: nil)
            throw error
        }
        guard let reply = await exchange.reply(within: limit, by: clock) else { throw OAuthError.timedOut }
        return try reply.result.get()
    }

    /// Exchanges a grant for a token, for callback code; the handler is called once, on any thread.
    @available(*, renamed: "exchange(_:)")
    public func exchange(
        _ grant: TokenGrant,
        then handler: @escaping @Sendable (Result<TokenResponse, any Error>) -> Void
    ) {
        Task {
            do { handler(.success(try await exchange(grant))) } catch { handler(.failure(error)) }
        }
    }

    /// Tells the server that a token is not needed any more (RFC 7009); does nothing without a ``revocationURL``.
    ///
    /// With most servers, a refresh token takes the access tokens with it. A token that the server does not know counts
    /// as revoked, whether the server says so with success (RFC 7009, section 2.2) or with `invalid_token`. A refusal
    /// with `invalid_grant` counts as revoked only if its description says that the token is dead: the server may mean
    /// that the token was issued to another client.
    ///
    /// **Failure** ``OAuthError``; an app that signs out goes on all the same.
    ///
    /// - Parameters:
    ///   - token: a refresh token, or an access token.
    ///   - hint: what kind it is, to help the server look it up (RFC 7009, section 2.1).
    public func revoke(_ token: String, hint: String = "refresh_token") async throws {
        try await revoke(token, hint: hint, provedBy: nil)
    }

    /// - Parameter key: for servers that want a proof here as well, of which the RFC says nothing.
    func revoke(_ token: String, hint: String, provedBy key: ProofKey?) async throws {
        guard let revocationURL else { return }
        let parameters = [FormParameter("token", token, isSecret: true), FormParameter("token_type_hint", hint)]
        // Without a turn: a sign-out is not put off because the server refuses exchanges.
        let exchange = OutstandingExchange<Result<Void, any Error>>()
        try await send(parameters, to: revocationURL, provedBy: key, limit: deadline) { result, secrets in
            let reader = TokenReplyReader(secrets: secrets, grant: .renewal)
            exchange.settle(result.mapError { $0 }.flatMap { reader.readRevocation($0) })
        }
        guard let reply = await exchange.reply(within: deadline, by: clock) else { throw OAuthError.timedOut }
        try reply.get()
    }

    /// Sends a grant, for a caller that has a turn; with a proof if the grant has a key, or begins a session.
    ///
    /// The exchange ends with its reply, also when no caller waits any more.
    ///
    /// - Parameter began: from when on the ``replyLimit`` counts; `nil` if it does when all that is sent is made.
    func send(
        _ grant: TokenGrant,
        since began: Date? = nil,
        settling exchange: OutstandingExchange<TokenReply>
    ) async throws {
        let made = grant.key == nil && grant.kind != .renewal ? try proofKeys?.make() : nil
        let key = grant.key ?? made
        // A login that polls too often says nothing about the exchanges of others.
        let isOfLine = grant.kind != .device
        let volley = gate.volley
        // Nobody else knows of a key that was made in vain.
        let giveUpMade = { @Sendable [proofKeys] in if let made { proofKeys?.forget(made.stored) } }
        do {
            try await send(grant.parameters, to: url, provedBy: key, limit: replyLimit, since: began) {
                [ways, gate] result, secrets in
                if isOfLine, case .success(let reply) = result {
                    gate.answered(reply.status, retryAfter: reply.retryAfter, of: volley)
                }
                let read: TokenReply
                switch result {
                case .success(let reply):
                    let reader = TokenReplyReader(secrets: secrets, of: grant, ways: ways, isProved: key != nil)
                    read = reader.read(reply).bound(to: key)
                case .failure(let error): read = TokenReply(.failure(error))
                }
                if read.proofKey == nil { giveUpMade() }
                exchange.settle(read)
            }
        } catch {
            giveUpMade()
            throw error
        }
    }

    /// The same in the line of another endpoint.
    func inLine(of other: TokenEndpoint) -> TokenEndpoint {
        var endpoint = self
        endpoint.gate = other.gate
        endpoint.proofMemory = other.proofMemory
        return endpoint
    }
}

extension TokenEndpoint: CustomStringConvertible, CustomReflectable {
    /// Where the endpoint is, and the client; never a secret, which may stand in the query of the URL.
    public var description: String { "TokenEndpoint(\(Self.shown(url)), \(authentication))" }

    /// A mirror without queries and header fields: `dump` prints no secret.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "url": Self.shown(url), "revocationURL": revocationURL.map(Self.shown) as Any,
                "authentication": authentication, "deadline": deadline,
            ],
            displayStyle: .struct
        )
    }

    private static func shown(_ url: URL) -> String {
        (WebOrigin(of: url)?.description ?? "\(url.scheme ?? "no scheme"):")
            + (URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? "")
    }
}
