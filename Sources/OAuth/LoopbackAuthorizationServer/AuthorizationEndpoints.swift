import AccessTokenCore
import AccessTokenSynchronization
import Foundation
import OAuthFoundation

/// What the server answers, and why; it knows requests and responses, and no sockets.
final class AuthorizationEndpoints: Sendable {
    struct State {
        var ledger: GrantLedger
        var logins = LoginLedger()
        var tally = AuthorizationServerTally()
        /// `nil` if the server asks for no proofs of possession.
        var proofs: ProofLedger?
        var faults: [AuthorizationServerFault.Place: [AuthorizationServerFault]] = [:]
        /// How many requests the token endpoint still takes.
        var limit: (left: Int, retryAfter: Int)?

        /// Counts a request at the token endpoint; `nil` if it is taken, else the seconds to wait.
        mutating func takeRequest() -> Int? {
            guard let limit else { return nil }
            guard limit.left > 0 else { return limit.retryAfter }
            self.limit?.left -= 1
            return nil
        }
    }

    static let tokenPath = "/token"
    static let revocationPath = "/revoke"
    static let resourcePath = "/resource"

    private static let invalidToken = unauthorized(
        #"{"error":"invalid_token"}"#,
        #"Bearer error="invalid_token", error_description="expired, revoked or unknown""#
    )

    let clients: [AuthorizationServerClient]
    let logins: LoginEndpoints
    let state: Locked<State>
    private let latency: TimeInterval
    let onEvent: @Sendable (AuthorizationServerEvent) -> Void

    init(
        clients: [AuthorizationServerClient],
        lifetime: Int,
        grace: TimeInterval,
        latency: TimeInterval,
        deviceInterval: Int,
        requiresPushedRequests: Bool,
        proofs: ProofDemand?,
        onEvent: @escaping @Sendable (AuthorizationServerEvent) -> Void
    ) {
        self.clients = clients
        logins = LoginEndpoints(
            clients: clients,
            deviceInterval: deviceInterval,
            requiresPushedRequests: requiresPushedRequests
        )
        self.latency = latency
        self.onEvent = onEvent
        state = Locked(
            State(ledger: GrantLedger(lifetime: lifetime, grace: grace), proofs: proofs.map(ProofLedger.init))
        )
    }

    private static func unauthorizedByProof(_ code: String?) -> HTTPResponse {
        var response = HTTPResponse(status: 401, json: code.map { #"{"error":"\#($0)"}"# } ?? "{}")
        response.fields = [challenge(code)]
        return response
    }

    private static func unauthorized(_ json: String, _ challenge: String) -> HTTPResponse {
        var response = HTTPResponse(status: 401, json: json)
        response.fields = ["WWW-Authenticate: \(challenge)"]
        return response
    }

    /// - Parameters:
    ///   - request: `nil` stands for what is none.
    ///   - issuer: what the server calls itself.
    func answer(_ request: HTTPRequest?, issuer: String) -> HTTPResponse {
        guard let request else { return rejected(400) }
        if let answer = answerLogin(request, issuer: issuer) { return answer }
        switch (request.path, request.method) {
        case (Self.tokenPath, "POST"):
            if let seconds = state.withLock({ $0.takeRequest() }) { return refusedForNow(seconds) }
            return answer(request, at: .tokenEndpoint) { answerTokenRequest($0, issuer: issuer) }
        case (Self.resourcePath, "GET"):
            return answer(request, at: .resource) { answerResourceRequest($0, issuer: issuer) }
        case (Self.revocationPath, "POST"): return answerRevocation(request)
        case (Self.tokenPath, _), (Self.resourcePath, _), (Self.revocationPath, _): return rejected(405)
        default: return rejected(404)
        }
    }

    /// Answers as usual, or with the next fault that is left for this place.
    private func answer(
        _ request: HTTPRequest,
        at place: AuthorizationServerFault.Place,
        _ usual: (HTTPRequest) -> HTTPResponse
    ) -> HTTPResponse {
        let fault = state.withLock { state -> AuthorizationServerFault? in
            guard state.faults[place]?.isEmpty == false else { return nil }
            return state.faults[place]?.removeFirst()
        }
        let response: HTTPResponse
        switch fault?.kind {
        case nil: return naming(usual(request), at: place)
        case .delivered(let delivery):
            var response = naming(usual(request), at: place)
            response.delivery = delivery
            return response
        case .answered(let answer): response = answer
        case .unauthorized where place == .tokenEndpoint: response = .failure(401, "invalid_client")
        case .unauthorized: response = Self.invalidToken
        }
        if place == .tokenEndpoint { state.withLock { $0.tally.tokenRequests += 1 } }
        return response
    }

    private func refusedForNow(_ seconds: Int) -> HTTPResponse {
        state.withLock { $0.tally.tokenRequests += 1 }
        var response = rejected(429)
        response.fields = ["Retry-After: \(seconds)"]
        return response
    }

    /// RFC 7009, section 2.1; by section 2.2, a token that is not known counts as revoked.
    private func answerRevocation(_ request: HTTPRequest) -> HTTPResponse {
        guard let form = FormFields(request), let token = form["token"] else { return rejected(400) }
        guard let client = client(of: request, form) else { return .failure(401, "invalid_client") }
        let revocation = state.withLock { state in
            let revocation = state.ledger.revoke(token, of: client.id)
            if case .revoked = revocation { state.tally.revokedFamilies += 1 }
            return revocation
        }
        switch revocation {
        case .refused: return .failure(400, "invalid_grant")
        case .revoked(let family): onEvent(.familyRevoked(family))
        case .unchanged: break
        }
        return HTTPResponse(status: 200, json: "{}")
    }

    func rejected(_ status: Int) -> HTTPResponse {
        onEvent(.requestRejected(status: status))
        return .failure(status, "invalid_request")
    }

    /// RFC 6749, sections 4.1.3, 4.4, 5.1, 5.2 and 6, and RFC 8628, section 3.4.
    private func answerTokenRequest(_ request: HTTPRequest, issuer: String) -> HTTPResponse {
        let form = FormFields(request)
        let token = form?["refresh_token"]
        let name = state.withLock { state in
            state.tally.tokenRequests += 1
            return token.flatMap(state.ledger.name)
        }
        onEvent(.tokenRequested(name))
        // Real servers sign tokens and write to a database. Without that time two requests seldom
        // meet, and a client that sends both looks better than it is.
        Thread.sleep(forTimeInterval: latency)
        guard let form else { return refusedToken("invalid_request") }
        guard let client = client(of: request, form) else { return refusedToken("invalid_client", status: 401) }
        let thumbprint: String?
        // Before anything is spent (RFC 9449, section 8).
        do throws(ProofLedger.Refusal) {
            thumbprint = try self.thumbprint(of: request, at: .tokenEndpoint, issuer: issuer)
        } catch {
            onEvent(.tokenRefused(code: error.code))
            return refused(error, at: .tokenEndpoint)
        }
        switch form["grant_type"] {
        case nil: return refusedToken("invalid_request")
        case "refresh_token":
            guard let token else { return refusedToken("invalid_request") }
            return rotate(token, of: client, boundTo: thumbprint)
        case "authorization_code": return exchangeCode(form, of: client, boundTo: thumbprint)
        case "urn:ietf:params:oauth:grant-type:device_code":
            return exchangeDeviceCode(form, of: client, boundTo: thumbprint)
        case "client_credentials":
            guard client.secret != nil else { return refusedToken("unauthorized_client") }
            let pair = state.withLock { $0.ledger.signIn(client.id, boundTo: thumbprint) }
            onEvent(.clientTokenIssued(pair.accessName))
            // A refresh token should not be included (RFC 6749, section 4.4.3).
            return issued(pair, refreshToken: nil)
        default: return refusedToken("unsupported_grant_type")
        }
    }

    /// The registered client with its own secret, by Basic or in the body (RFC 6749, section 2.3.1).
    func client(of request: HTTPRequest, _ form: FormFields) -> AuthorizationServerClient? {
        var (id, secret) = (form["client_id"], form["client_secret"])
        if let field = request[field: "authorization"] {
            let words = field.split(separator: " ")
            guard words.count == 2, words[0].lowercased() == "basic", let data = Data(base64Encoded: String(words[1]))
            else { return nil }
            let parts = data.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            (id, secret) = (FormFields.decoded(parts[0]), FormFields.decoded(parts[1]))
        }
        return clients.first { $0.id == id && $0.secret == secret }
    }

    private func rotate(
        _ token: String,
        of client: AuthorizationServerClient,
        boundTo thumbprint: String?
    ) -> HTTPResponse {
        let rotation = state.withLock { state in
            let rotation = state.ledger.rotate(
                token,
                of: client.id,
                boundTo: thumbprint,
                // A client that authenticates is known by its secret (RFC 9449, section 5).
                isBound: client.secret == nil,
                at: ProcessInfo.processInfo.systemUptime
            )
            if case .spent(_, let revokes) = rotation {
                state.tally.reuses += 1
                state.tally.revokedFamilies += revokes ? 1 : 0
            }
            return rotation
        }
        if case .spent(let name, let revokes) = rotation {
            onEvent(.reuseDetected(name))
            if revokes { onEvent(.familyRevoked(name.family)) }
        }
        guard case .rotated(let pair) = rotation else { return refusedToken("invalid_grant") }
        onEvent(.tokenIssued(access: pair.accessName, refresh: pair.refreshName))
        return issued(pair, refreshToken: pair.refreshToken)
    }

    func issued(_ pair: TokenPair, refreshToken: String?) -> HTTPResponse {
        let refresh = refreshToken.map { #","refresh_token":"\#($0)""# } ?? ""
        let isBound = state.withLock { $0.ledger.thumbprint(of: pair.accessToken) } != nil
        let type = isBound ? "DPoP" : "Bearer"
        return HTTPResponse(
            status: 200,
            json: #"{"access_token":"\#(pair.accessToken)","token_type":"\#(type)","#
                + #""expires_in":\#(pair.lifetime)\#(refresh)}"#
        )
    }

    func refusedToken(_ code: String, status: Int = 400) -> HTTPResponse {
        onEvent(.tokenRefused(code: code))
        return .failure(status, code)
    }

    /// RFC 6750, section 3; RFC 9449, section 7.
    private func answerResourceRequest(_ request: HTTPRequest, issuer: String) -> HTTPResponse {
        let wantsProof = state.withLock { $0.proofs } != nil
        guard let credentials = request[field: "authorization"] else {
            onEvent(.resourceRequested(nil))
            onEvent(.resourceRefused(nil))
            return wantsProof ? Self.unauthorizedByProof(nil) : Self.unauthorized("{}", "Bearer")
        }
        let words = credentials.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, ["bearer", "dpop"].contains(words[0].lowercased()) else { return rejected(400) }
        // Neither kind of token is good in the other scheme (RFC 9449, section 7.2).
        let isRightScheme = words[0].lowercased() == (wantsProof ? "dpop" : "bearer")
        let token = String(words[1])
        let (name, isAccepted, user) = state.withLock { state in
            let name = state.ledger.name(of: token)
            return (name, state.ledger.accepts(accessToken: token), name.flatMap(state.ledger.user))
        }
        onEvent(.resourceRequested(name))
        guard let name, isAccepted, isRightScheme else {
            onEvent(.resourceRefused(name))
            return wantsProof ? Self.unauthorizedByProof("invalid_token") : Self.invalidToken
        }
        do throws(ProofLedger.Refusal) {
            let thumbprint = try self.thumbprint(of: request, at: .resource, issuer: issuer, token: token)
            guard thumbprint == state.withLock({ $0.ledger.thumbprint(of: token) }) else {
                throw .proof("7.1: the access token is bound to another key")
            }
        } catch {
            onEvent(.resourceRefused(name))
            return refused(error, at: .resource)
        }
        onEvent(.resourceServed(name))
        let who = user.map { #","user":"\#($0)""# } ?? ""
        return HTTPResponse(status: 200, json: #"{"resource":"served"\#(who)}"#)
    }
}
