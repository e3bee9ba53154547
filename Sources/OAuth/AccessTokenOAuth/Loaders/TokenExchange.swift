import AccessTokenCore
public import AccessTokenSynchronization
public import Foundation

/// How an ``OAuthLoader`` renews a credential: at a token endpoint, or by code of the app's own.
///
/// Whichever it is, the loader keeps the same promises: one exchange at a time in all processes that share the store, a
/// note in the record before the refresh token leaves, and what comes late is saved.
///
/// ```swift
/// let exchange = TokenExchange { credential in
///     try await vendor.renew(credential.refreshToken)
/// }
/// let loader = OAuthLoader(exchange, store: store)
/// ```
///
/// **Several audiences** One refresh token can serve several loaders, each with a key of its own: an audience, a
/// resource or a scope. The loaders share a store, and each has a service. The credential keeps one access token for
/// each key, and no loader hands out that of another. One exchange runs at a time, whichever loader asks. Without a
/// key, a loader keeps its token as the credential's own, and a record is as it was before there were keys.
///
/// It never changes, and is a class so that the loaders of all accounts of a server share it.
public final class TokenExchange: Sendable {
    enum Request: Sendable {
        case renewal(Credential, refreshToken: String)
        /// - Parameter replacing: what is in the store.
        case grant(TokenGrant, replacing: Credential?)
    }

    /// How many seconds a caller waits.
    let deadline: TimeInterval
    let clock: any AccessTokenClock
    /// Where the exchanges of an endpoint wait for their turn; code of the app's own has a client that does.
    let gate: ExchangeGate?
    /// Whether the exchange ends when the server has been silent for ``replyLimit``; code of the app's may never end.
    let endsByItself: Bool
    /// Makes the grant to exchange where there is no refresh token, if there is one.
    let makeGrant: (@Sendable () async throws -> TokenGrant)?
    /// A grant that need not be made, and never grows old.
    let constantGrant: TokenGrant?
    /// Under which the access token stands in the credential; `nil` is the credential's own.
    let key: String?
    let takesType: @Sendable (String) -> Bool
    /// Begins an exchange, which ends with its reply; throws if nothing was sent.
    let start: @Sendable (Request, OutstandingExchange<TokenReply>) async throws -> Void
    let revoke: @Sendable (Credential) async throws -> Void
    /// Reads the keys of bound credentials; `nil` if there are none.
    let proofKeys: ProofKeys?
    let name: String

    /// The key, as it is told from others.
    var exactKey: ExactString? { key.map { ExactString($0) } }

    var hasGrant: Bool { makeGrant != nil || constantGrant != nil }

    /// Seconds after which no reply can come any more, unless the process was stopped.
    var replyLimit: TimeInterval { deadline * 4 }

    /// Exchanges refresh tokens at an endpoint.
    ///
    /// - Parameters:
    ///   - endpoint: where refresh tokens are exchanged.
    ///   - parameters: go with each refresh token, such as `resource` (RFC 8707) or a vendor's `audience`. Name no
    ///     `scope` without need: a server may take what is not named there away for ever.
    ///   - key: under which the access token is kept in the credential. If you name none, it is made of the parameters
    ///     `resource`, `audience` and `scope`: two loaders that ask for different tokens never share one. A login's own
    ///     access token has no key, since nobody knows what it is good for; a loader with a key loads one of its own.
    ///   - grant: makes what to exchange when there is no refresh token, anew for each exchange, such as a JSON Web
    ///     Token (RFC 7523). Its error reaches the caller unchanged, and nothing is sent; nor is it, with
    ///     ``OAuthError/assertionTimedOut``, when the endpoint's deadline passes first. It is made before the load has
    ///     its turn at the endpoint and the store, so it may ask another service of the same endpoint, and may be made
    ///     in vain. It is made once more if it has waited in line for longer than half of the deadline, and again if
    ///     another session is in the store by then.
    public convenience init(
        _ endpoint: TokenEndpoint,
        parameters: KeyValuePairs<String, String> = [:],
        key: String? = nil,
        grant: (@Sendable () async throws -> TokenGrant)? = nil
    ) {
        self.init(endpoint, parameters: parameters, key: key, makeGrant: grant, constantGrant: nil)
    }

    /// Takes a grant that is made, or one that need not be made.
    convenience init(
        _ endpoint: TokenEndpoint,
        parameters: KeyValuePairs<String, String>,
        key: String?,
        makeGrant: (@Sendable () async throws -> TokenGrant)? = nil,
        constantGrant: TokenGrant?
    ) {
        let makeGrant = makeGrant.map { grant in
            { @Sendable in try await made(within: endpoint.deadline, by: endpoint.clock, grant) }
        }
        self.init(
            at: endpoint,
            key: key ?? Self.key(of: parameters),
            makeGrant: makeGrant,
            constantGrant: constantGrant
        ) { request, outstanding in
            switch request {
            case .renewal(let credential, let refreshToken):
                let now = endpoint.clock.now
                try await endpoint.renew(credential, refreshToken, parameters, since: now, settling: outstanding)
            case .grant(let grant, let former):
                // A client that acts for itself keeps its key. One that is lost costs no session: there is no user.
                try await endpoint.send(grant.bound(to: try? endpoint.key(of: former)), settling: outstanding)
            }
        } revoke: { credential in
            try await endpoint.revoke(credential)
        }
    }

    /// Exchanges in the line of an endpoint.
    private init(
        at endpoint: TokenEndpoint,
        key: String?,
        makeGrant: (@Sendable () async throws -> TokenGrant)? = nil,
        constantGrant: TokenGrant? = nil,
        start: @escaping @Sendable (Request, OutstandingExchange<TokenReply>) async throws -> Void,
        revoke: @escaping @Sendable (Credential) async throws -> Void
    ) {
        deadline = endpoint.deadline
        clock = endpoint.clock
        gate = endpoint.gate
        endsByItself = true
        self.makeGrant = makeGrant
        self.constantGrant = constantGrant
        self.key = key
        let ways = endpoint.ways
        takesType = { ways.takes($0) }
        self.start = start
        self.revoke = revoke
        proofKeys = endpoint.proofKeys
        name = "\(endpoint)"
    }

    /// Exchanges refresh tokens at an endpoint that is made from the credential, anew for each exchange.
    ///
    /// For a server whose address belongs to the credential, a client whose secret does, or parameters that are known
    /// at run time only:
    ///
    /// ```swift
    /// let exchange = TokenExchange(endpoint) { credential, endpoint in
    ///     endpoint.url = tokenURL(of: credential.otherMembers["instance_url"])
    /// }
    /// ```
    ///
    /// All promises of an endpoint are kept. All loaders of the exchange share one line, whatever the closure changes:
    /// that of `endpoint`, which also has the deadline and the clock. A client whose secret is made for each request
    /// needs no closure here: `ClientAuthentication.postBody(clientID:secret:)` takes one that makes the secret.
    ///
    /// - Parameters:
    ///   - endpoint: where refresh tokens are exchanged, unless the closure says something else.
    ///   - key: under which the access token is kept in the credential; `nil` keeps it as the credential's own.
    ///   - parameters: go with the refresh token of a credential.
    ///   - adapt: changes the endpoint for a credential, before each exchange and each revocation. An error of `adapt`
    ///     or `parameters` reaches the caller unchanged, and nothing is sent; nor is it, with
    ///     ``OAuthError/assertionTimedOut``, when the endpoint's deadline, which both share, passes first.
    public convenience init(
        _ endpoint: TokenEndpoint,
        key: String? = nil,
        parameters: @escaping @Sendable (Credential) async throws -> KeyValuePairs<String, String> = { _ in [:] },
        adapting adapt: @escaping @Sendable (Credential, inout TokenEndpoint) async throws -> Void
    ) {
        let adapted: @Sendable (Credential) async throws -> TokenEndpoint = { credential in
            var adapted = endpoint
            try await adapt(credential.noting(nil), &adapted)
            return adapted.inLine(of: endpoint)
        }
        self.init(at: endpoint, key: key) { request, outstanding in
            guard case .renewal(let credential, let refreshToken) = request else { throw AccessTokenError.signedOut }
            let began = endpoint.clock.now
            let (adapted, parameters) = try await made(within: endpoint.deadline, by: endpoint.clock) {
                (try await adapted(credential), try await parameters(credential.noting(nil)))
            }
            try await adapted.renew(credential, refreshToken, parameters, since: began, settling: outstanding)
        } revoke: { credential in
            try await made(within: endpoint.deadline, by: endpoint.clock) { try await adapted(credential) }
                .revoke(credential)
        }
    }

    /// Renews credentials by code of the app's own, such as a vendor's client, or a back end that holds the client's
    /// secret.
    ///
    /// What `renew` throws reaches the callers unchanged, and says what happened to the request:
    ///
    /// | `renew` throws | it means | the refresh token |
    /// | --- | --- | --- |
    /// | `OAuthError.refused("invalid_grant")` | the session has ended | is removed |
    /// | `OAuthError.refused("login_required")` | only a login helps | stays, and is not sent for two minutes |
    /// | ``OAuthError/unreachable(code:system:)``, a `URLError` of a connection that was not made, ``OAuthError/unavailable(status:retryAfter:)`` | not sent, or not carried out | stays, and is sent at the next load |
    /// | ``OAuthError/notUnderstood(status:_:)`` with 200, `DecodingError` | carried out, and the reply cannot be read | stays, and is not sent: ``OAuthError/sessionMayBeSpent`` |
    /// | anything else | unknown: it may have been carried out | stays, and is sent once more |
    ///
    /// If `renew` calls ``TokenEndpoint/exchange(_:)`` with the credential's refresh token, the loader learns of the
    /// reply as well: it saves the next refresh token, whatever `renew` throws or leaves out, and waits for a reply
    /// that `renew` did not wait for. For another client nobody can promise that: hand on the refresh token of each
    /// reply, and wait for each reply. Nor can it be promised for a detached task. To change only the address, the
    /// secret or the parameters of an endpoint, use ``TokenExchange/init(_:key:parameters:adapting:)``.
    ///
    /// A ``CredentialStoreError`` of `renew` is the exception: callers would take it for one of the loader's store, and
    /// for a request that was not sent. It reaches them as ``OAuthError/connectionLost(code:system:)`` with its text.
    ///
    /// - Parameters:
    ///   - key: under which the access token is kept in the credential; `nil` keeps it as the credential's own.
    ///   - deadline: how many seconds a caller waits. The exchange is not cancelled then. After four times as long the
    ///     loader stops waiting for it; what comes later is saved by the next load of this process.
    ///   - clock: wall clock and timers.
    ///   - revoke: tells the server that a session has ended; by default nobody is told.
    ///   - proofKeys: reads the keys of credentials that are bound to one (RFC 9449), for ``OAuthLoader/proofs``; those
    ///     of the endpoint that `renew` calls.
    ///   - renew: exchanges the refresh token of a credential. It is called once at a time, and never cancelled.
    public init(
        key: String? = nil,
        deadline: TimeInterval = 30,
        clock: any AccessTokenClock = SystemClock(),
        revoke: @escaping @Sendable (Credential) async throws -> Void = { _ in },
        proofKeys: ProofKeys? = nil,
        _ renew: @escaping @Sendable (Credential) async throws -> TokenResponse
    ) {
        self.deadline = TokenEndpoint.sensible(deadline)
        self.clock = clock
        gate = nil
        endsByItself = false
        (makeGrant, constantGrant) = (nil, nil)
        self.key = key
        // Only time tells whether the app's code takes what it did not take before.
        takesType = { _ in false }
        start = { request, outstanding in
            guard case .renewal(let credential, let refreshToken) = request else { throw AccessTokenError.signedOut }
            let relay = ExchangeRelay(of: refreshToken, in: credential)
            Task {
                do {
                    let response = try await ExchangeRelay.$current.withValue(relay) {
                        try await renew(credential.noting(nil))
                    }
                    outstanding.settle(TokenReply(checking: relay.completing(response)))
                } catch {
                    outstanding.settle(TokenReply(thrown: error, despite: await relay.reply(by: clock)))
                }
            }
        }
        self.revoke = revoke
        self.proofKeys = proofKeys
        name = "an exchange of the app's own"
    }

    /// What tells the access tokens of different parameters apart.
    private static func key(of parameters: KeyValuePairs<String, String>) -> String? {
        let telling = parameters.filter { ["resource", "audience", "scope"].contains($0.key) && !$0.value.isEmpty }
            .sorted { ($0.key, $0.value) < ($1.key, $1.value) }
        return telling.isEmpty ? nil : FormEncoding.body(telling.map { FormParameter($0.key, $0.value) })
    }
}

extension TokenEndpoint {
    /// Sends the refresh token of a credential, with a proof if the credential is bound to a key.
    ///
    /// - Parameter began: when the load began with the exchange. What is made for the request is part of the exchange:
    ///   other processes wait from the note in the record on.
    fileprivate func renew(
        _ credential: Credential,
        _ refreshToken: String,
        _ parameters: KeyValuePairs<String, String>,
        since began: Date,
        settling outstanding: OutstandingExchange<TokenReply>
    ) async throws {
        let grant = TokenGrant.refreshToken(refreshToken).adding(parameters).bound(to: try key(of: credential))
        let expected = grant.expecting(IDTokenCheck(renewing: credential))
        try await send(expected, since: began, settling: outstanding)
    }

    /// Revokes the refresh token of a credential, or its access tokens if it has none.
    fileprivate func revoke(_ credential: Credential) async throws {
        // With a refresh token, its access tokens end as well (RFC 7009, section 2.1).
        // A lost key must not keep a session from ending.
        let key = try? key(of: credential)
        if let refreshToken = credential.refreshToken {
            return try await revoke(refreshToken, hint: "refresh_token", provedBy: key)
        }
        var failure: (any Error)?
        for token in credential.accessTokens {
            // One that fails must not keep the others valid.
            do { try await revoke(token, hint: "access_token", provedBy: key) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}

extension TokenExchange: CustomStringConvertible, CustomReflectable {
    /// Where tokens are exchanged, and never a secret.
    public var description: String { "TokenExchange(\(name))" }

    /// A mirror without parameters and closures: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["name": name], displayStyle: .class) }
}
