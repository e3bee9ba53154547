import AccessTokenSynchronization
import Foundation
import OAuthFoundation

/// The requests by which a session begins, and what they issue.
extension AuthorizationEndpoints {
    private static let metadataPaths: Set = [
        "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration",
    ]

    /// `nil` for a request that is none of a login.
    func answerLogin(_ request: HTTPRequest, issuer: String) -> HTTPResponse? {
        switch (request.path, request.method) {
        case (let path, "GET") where Self.metadataPaths.contains(path): return metadata(issuer)
        case (LoginEndpoints.authorizationPath, "GET"):
            return state.withLock { logins.authorizationPage(request.query, $0.logins, issuer: issuer) }
        case (LoginEndpoints.authorizationPath, "POST"):
            return decided(request) { logins.decision($0, &$1, issuer: issuer) }
        case (LoginEndpoints.devicePath, "GET"): return logins.devicePage(request.query)
        case (LoginEndpoints.devicePath, "POST"): return decided(request) { logins.deviceDecision($0, &$1) }
        case (LoginEndpoints.deviceAuthorizationPath, "POST"):
            guard let form = FormFields(request) else { return rejected(400) }
            guard let client = client(of: request, form) else { return .failure(401, "invalid_client") }
            return state.withLock { logins.deviceCodes(client, &$0.logins, issuer: issuer) }
        case (LoginEndpoints.pushPath, "POST"):
            guard let form = FormFields(request) else { return rejected(400) }
            guard let client = client(of: request, form) else { return .failure(401, "invalid_client") }
            do throws(ProofLedger.Refusal) {
                let thumbprint = try pushedThumbprint(request, form, issuer: issuer)
                let response = state.withLock { logins.push(request, of: client, boundTo: thumbprint, &$0.logins) }
                return naming(response, at: .tokenEndpoint)
            } catch {
                return refused(error, at: .tokenEndpoint)
            }
        case (LoginEndpoints.authorizationPath, _), (LoginEndpoints.devicePath, _), (LoginEndpoints.pushPath, _),
            (LoginEndpoints.deviceAuthorizationPath, _):
            return rejected(405)
        default: return nil
        }
    }

    private func decided(
        _ request: HTTPRequest,
        _ decide: (FormFields, inout LoginLedger) -> LoginEndpoints.Decision
    ) -> HTTPResponse {
        guard let form = FormFields(request) else { return rejected(400) }
        let (response, user, isDecided) = state.withLock { decide(form, &$0.logins) }
        if isDecided { onEvent(.userDecided(user)) }
        return response
    }

    /// What a user decides without a browser; `nil` if the page would not take it.
    func decide(_ query: String, user: String?, issuer: String) -> String? {
        let (response, decided, isDecided) = state.withLock { state in
            logins.decision(on: query, user: user, &state.logins, issuer: issuer)
        }
        if isDecided { onEvent(.userDecided(decided)) }
        return response.location
    }

    func decide(userCode: String, user: String?) -> Bool {
        let isDecided = state.withLock { state in
            state.logins.decide(userCode: userCode, user: user, at: ProcessInfo.processInfo.systemUptime)
        }
        if isDecided { onEvent(.userDecided(user)) }
        return isDecided
    }

    /// RFC 8414, section 2.
    private func metadata(_ issuer: String) -> HTTPResponse {
        let endpoints = [
            ("authorization_endpoint", LoginEndpoints.authorizationPath), ("token_endpoint", Self.tokenPath),
            ("device_authorization_endpoint", LoginEndpoints.deviceAuthorizationPath),
            ("revocation_endpoint", Self.revocationPath),
            ("pushed_authorization_request_endpoint", LoginEndpoints.pushPath),
        ]
        let members = endpoints.map { name, path in "\"\(name)\":\"\(issuer)\(path)\"" }
        let wantsProof = state.withLock { $0.proofs } != nil
        return HTTPResponse(
            status: 200,
            json: #"{"issuer":"\#(issuer)",\#(members.joined(separator: ",")),"response_types_supported":["code"],"#
                + #""grant_types_supported":["authorization_code","refresh_token","client_credentials","#
                + #""urn:ietf:params:oauth:grant-type:device_code"],"code_challenge_methods_supported":["S256"],"#
                + #""token_endpoint_auth_methods_supported":["none","client_secret_basic","client_secret_post"],"#
                + #""require_pushed_authorization_requests":\#(logins.requiresPushedRequests),"#
                + (wantsProof ? #""dpop_signing_alg_values_supported":["ES256"],"# : "")
                + #""authorization_response_iss_parameter_supported":true}"#
        )
    }

    func exchangeCode(
        _ form: FormFields,
        of client: AuthorizationServerClient,
        boundTo thumbprint: String?
    ) -> HTTPResponse {
        guard let code = form["code"], let verifier = form["code_verifier"], let redirectURI = form["redirect_uri"]
        else {
            return refusedToken("invalid_request")
        }
        let (pair, revoked) = state.withLock { state -> (TokenPair?, Int?) in
            let exchange = state.logins.exchange(
                code,
                clientID: client.id,
                redirectURI: redirectURI,
                verifier: verifier,
                thumbprint: thumbprint,
                at: ProcessInfo.processInfo.systemUptime
            )
            switch exchange {
            case .granted(let user):
                let pair = begin(&state, client, user, boundTo: thumbprint)
                state.logins.note(family: pair.accessName.family, of: code)
                return (pair, nil)
            case .spent(let family?) where state.ledger.revoke(family: family):
                state.tally.revokedFamilies += 1
                return (nil, family)
            case .spent, .refused: return (nil, nil)
            }
        }
        if let revoked { onEvent(.familyRevoked(revoked)) }
        return pair.map(begun) ?? refusedToken("invalid_grant")
    }

    func exchangeDeviceCode(
        _ form: FormFields,
        of client: AuthorizationServerClient,
        boundTo thumbprint: String?
    ) -> HTTPResponse {
        guard let code = form["device_code"] else { return refusedToken("invalid_request") }
        let (pair, error) = state.withLock { state -> (TokenPair?, String) in
            let (user, error) = state.logins.poll(
                code,
                clientID: client.id,
                interval: TimeInterval(logins.deviceInterval),
                at: ProcessInfo.processInfo.systemUptime
            )
            return (user.map { begin(&state, client, $0, boundTo: thumbprint) }, error)
        }
        return pair.map(begun) ?? refusedToken(error)
    }

    private func begin(
        _ state: inout State,
        _ client: AuthorizationServerClient,
        _ user: String,
        boundTo thumbprint: String?
    ) -> TokenPair {
        state.tally.signIns += 1
        return state.ledger.signIn(client.id, user: user, boundTo: thumbprint)
    }

    private func begun(_ pair: TokenPair) -> HTTPResponse {
        onEvent(.tokenIssued(access: pair.accessName, refresh: pair.refreshName))
        return issued(pair, refreshToken: pair.refreshToken)
    }
}
