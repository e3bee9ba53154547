import AccessTokenCore
import Foundation

/// What the server answers, and why; it knows requests and responses, and no sockets.
final class AuthorizationEndpoints: Sendable {
    private struct State {
        var ledger: GrantLedger
        var tally = AuthorizationServerTally()
    }

    static let clientID = "loopback-client"
    static let tokenPath = "/token"
    static let resourcePath = "/resource"

    private let latency: TimeInterval
    private let onEvent: @Sendable (AuthorizationServerEvent) -> Void
    private let state: Locked<State>

    init(
        lifetime: Int,
        latency: TimeInterval,
        onEvent: @escaping @Sendable (AuthorizationServerEvent) -> Void
    ) {
        self.latency = latency
        self.onEvent = onEvent
        state = Locked(State(ledger: GrantLedger(lifetime: lifetime)))
    }

    var tally: AuthorizationServerTally {
        state.withLock { $0.tally }
    }

    func signIn() -> TokenPair {
        state.withLock { state in
            state.tally.signIns += 1
            return state.ledger.signIn()
        }
    }

    func expireAccessTokens() {
        state.withLock { $0.ledger.expireAccessTokens() }
    }

    func isRevoked(family: Int) -> Bool {
        state.withLock { $0.ledger.isRevoked(family: family) }
    }

    func name(of token: String) -> TokenName? {
        state.withLock { $0.ledger.name(of: token) }
    }

    func answer(_ request: HTTPRequest) -> HTTPResponse {
        switch (request.path, request.method) {
        case (Self.tokenPath, "POST"): return answerTokenRequest(request)
        case (Self.resourcePath, "GET"): return answerResourceRequest(request)
        case (Self.tokenPath, _), (Self.resourcePath, _): return rejected(405)
        default: return rejected(404)
        }
    }

    func answerMalformed() -> HTTPResponse {
        rejected(400)
    }

    private func rejected(_ status: Int) -> HTTPResponse {
        onEvent(.requestRejected(status: status))
        return .failure(status, "invalid_request")
    }

    /// RFC 6749, sections 6, 5.1 and 5.2.
    private func answerTokenRequest(_ request: HTTPRequest) -> HTTPResponse {
        let form = FormFields(request.body)
        let token = form?["refresh_token"]
        let name = state.withLock { state in
            state.tally.tokenRequests += 1
            return token.flatMap(state.ledger.name)
        }
        onEvent(.tokenRequested(name))
        // Real servers sign tokens and write to a database. Without that time two requests seldom
        // meet, and a client that sends both looks better than it is.
        Thread.sleep(forTimeInterval: latency)
        guard let form, isForm(request) else { return refusedToken("invalid_request") }
        guard form["client_id"] == Self.clientID else { return refusedToken("invalid_client", status: 401) }
        guard let grant = form["grant_type"] else { return refusedToken("invalid_request") }
        guard grant == "refresh_token" else { return refusedToken("unsupported_grant_type") }
        guard let token else { return refusedToken("invalid_request") }
        return answerGrant(token)
    }

    private func answerGrant(_ token: String) -> HTTPResponse {
        let rotation = state.withLock { state in
            let rotation = state.ledger.rotate(refreshToken: token)
            if case .spent(_, let revokes) = rotation {
                state.tally.reuses += 1
                state.tally.revokedFamilies += revokes ? 1 : 0
            }
            return rotation
        }
        if case .spent(let name, let revokes) = rotation {
            onEvent(.reuseDetected(name))
            if revokes {
                onEvent(.familyRevoked(name.family))
            }
        }
        guard case .rotated(let pair) = rotation else { return refusedToken("invalid_grant") }
        onEvent(.tokenIssued(access: pair.accessName, refresh: pair.refreshName))
        return HTTPResponse(
            200,
            json: #"{"access_token":"\#(pair.accessToken)","token_type":"Bearer","#
                + #""expires_in":\#(pair.lifetime),"refresh_token":"\#(pair.refreshToken)"}"#
        )
    }

    private func refusedToken(_ code: String, status: Int = 400) -> HTTPResponse {
        onEvent(.tokenRefused(code: code))
        return .failure(status, code)
    }

    private func isForm(_ request: HTTPRequest) -> Bool {
        let type = request[field: "content-type"]?.lowercased() ?? ""
        return type.prefix { $0 != ";" && $0 != " " } == "application/x-www-form-urlencoded"
    }

    /// RFC 6750, section 3.
    private func answerResourceRequest(_ request: HTTPRequest) -> HTTPResponse {
        guard let credentials = request[field: "authorization"] else {
            onEvent(.resourceRequested(nil))
            onEvent(.resourceRefused(nil))
            return HTTPResponse(401, json: "{}", challenge: "Bearer")
        }
        let words = credentials.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return rejected(400) }
        let token = String(words[1])
        let (name, isAccepted) = state.withLock { state in
            (state.ledger.name(of: token), state.ledger.accepts(accessToken: token))
        }
        onEvent(.resourceRequested(name))
        guard let name, isAccepted else {
            onEvent(.resourceRefused(name))
            return HTTPResponse(
                401,
                json: #"{"error":"invalid_token"}"#,
                challenge: #"Bearer error="invalid_token", error_description="expired, revoked or unknown""#
            )
        }
        onEvent(.resourceServed(name))
        return HTTPResponse(200, json: #"{"resource":"served"}"#)
    }
}
