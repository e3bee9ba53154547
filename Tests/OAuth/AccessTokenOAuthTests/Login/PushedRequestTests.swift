import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import OAuthFoundation
import TestKeys
import TestSupport
import Testing

@testable import AccessTokenOAuth
@testable import LoopbackAuthorizationServer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A pushed authorization request", .takesTurns, .endsHangs)
struct PushedRequestTests {
    private static let redirectURI = "http://127.0.0.1:8400/callback"
    private static let secret = "s3cr3t:/+ &"

    /// A public client and two ways of a confidential one.
    private static let authentications: [ClientAuthentication] = [
        .none(clientID: "app"), .basic(clientID: "back end", secret: secret),
        .postBody(clientID: "back end", secret: secret), .postBody(clientID: "back end", secret: { secret }),
    ]

    private func withLoopbackServer(
        requiresPushedRequests: Bool = true,
        _ body: (RotatingAuthorizationServer, AuthorizationServer) async throws -> Void
    ) async throws {
        let server = try RotatingAuthorizationServer(
            clients: [.public("app"), .confidential("back end", secret: Self.secret)],
            requiresPushedRequests: requiresPushedRequests
        )
        defer { server.stop() }
        let discovery = ServerDiscovery(cache: MetadataCache())
        try await body(server, try await discovery.server(server.issuer))
    }

    private func endpoint(
        _ server: AuthorizationServer,
        _ authentication: ClientAuthentication = .none(clientID: "app")
    ) throws -> TokenEndpoint {
        TokenEndpoint(try #require(server.tokenURL), authentication: authentication, deadline: 3600)
    }

    @Test(arguments: authentications.indices)
    func `is a login from its beginning to its tokens`(_ index: Int) async throws {
        try await withLoopbackServer { loopback, server in
            #expect(server.requiresPushedRequests)
            let endpoint = try endpoint(server, Self.authentications[index])
            let login = try await AuthorizationCodeLogin(
                at: server,
                with: endpoint,
                redirectURI: Self.redirectURI,
                scope: "notes",
                parameters: ["login_hint": "alice@example.com"]
            )
            let query = try #require(URLComponents(url: login.url, resolvingAgainstBaseURL: true)?.queryItems)
            #expect(query.map(\.name) == ["client_id", "request_uri"])
            let redirect = try #require(loopback.redirect(for: login.url, user: "alice"))
            let response = try await endpoint.exchange(try login.grant(from: redirect))
            #expect(response.refreshToken != nil)
            // The reference is good for one login.
            #expect(loopback.redirect(for: login.url, user: "alice") == nil)
        }
    }

    @Test func `is a login of a program that listens`() async throws {
        try await withLoopbackServer { loopback, server in
            let endpoint = try endpoint(server)
            let login = try await LoopbackLogin(at: server, with: endpoint)
            let grant = try await login.grant { url in
                guard let redirect = loopback.redirect(for: url, user: "bob") else { return }
                Task { _ = try await URLSession.shared.data(from: redirect) }
            }
            #expect(try await endpoint.exchange(grant).refreshToken != nil)
        }
    }

    @Test func `is refused by the user as any other`() async throws {
        try await withLoopbackServer { loopback, server in
            let login = try await AuthorizationCodeLogin(
                at: server,
                with: try endpoint(server),
                redirectURI: Self.redirectURI
            )
            let redirect = try #require(loopback.redirect(for: login.url, user: nil))
            #expect(throws: LoginError.serverRefused("access_denied")) { try login.grant(from: redirect) }
        }
    }

    @Test func `is what a server asks for that requires it, and the usual login says so`() async throws {
        try await withLoopbackServer { loopback, server in
            let error = #expect(throws: LoginError.self) {
                try AuthorizationCodeLogin(at: server, clientID: "app", redirectURI: Self.redirectURI)
            }
            #expect(error?.isConfigurationMistake == true)
            // What the server itself does with the usual request.
            let tolerant = AuthorizationServer(authorizationURL: server.authorizationURL, tokenURL: server.tokenURL)
            let login = try AuthorizationCodeLogin(at: tolerant, clientID: "app", redirectURI: Self.redirectURI)
            let redirect = try #require(loopback.redirect(for: login.url, user: "alice"))
            #expect(throws: LoginError.serverRefused("invalid_request")) { try login.grant(from: redirect) }
        }
    }

    @Test func `is made wherever the server takes it, and nowhere else`() async throws {
        try await withLoopbackServer(requiresPushedRequests: false) { _, server in
            let pushed = try await AuthorizationCodeLogin(
                at: server,
                with: try endpoint(server),
                redirectURI: Self.redirectURI
            )
            #expect(pushed.url.query?.contains("request_uri=") == true)
            let without = AuthorizationServer(authorizationURL: server.authorizationURL, tokenURL: server.tokenURL)
            let usual = try await AuthorizationCodeLogin(
                at: without,
                with: try endpoint(server),
                redirectURI: Self.redirectURI
            )
            #expect(usual.url.query?.contains("code_challenge=") == true)
        }
    }

    /// Some servers take no pushed request without a proof of the key that it names.
    @Test func `is proved by the key that it names, with the server's nonce`() async throws {
        try await withServer { connection, request in
            guard request.nonce == "n1" else {
                return connection.reply(400, #"{"error":"use_dpop_nonce"}"#, fields: ["DPoP-Nonce": "n1"])
            }
            connection.reply(201, #"{"request_uri":"urn:1","expires_in":60}"#)
        } _: { scripted in
            let server = AuthorizationServer(
                authorizationURL: try scripted.url,
                tokenURL: try scripted.url,
                pushedAuthorizationURL: try scripted.url
            )
            var endpoint = try scripted.endpoint()
            endpoint.proofKeys = .ofThisMachine
            _ = try await AuthorizationCodeLogin(at: server, with: endpoint, redirectURI: Self.redirectURI)
            #expect(scripted.requests.map(\.nonce) == [nil, "n1"])
            for request in scripted.requests {
                let proof = try #require(request.fields["dpop"].flatMap { ReceivedProof($0) })
                #expect(proof.thumbprint == FormFields(query: request.body)?["dpop_jkt"])
                #expect(proof.claims.htm == "POST" && proof.claims.ath == nil)
            }
        }
    }

    /// What the endpoint answers, and what the app is told.
    @Test(arguments: [
        (400, #"{"error":"invalid_request","error_description":"not {state}"}"#, "invalid_request"),
        (401, #"{"error":"invalid_client"}"#, "invalid_client"),
        (201, "{}", "not_understood_201"), (200, "<html>", "not_understood_200"), (503, "", "http_503"),
        (302, "", "redirected_302"), (201, #"{"request_uri":""}"#, "not_understood_201"),
    ])
    func `that fails says why, and shows nothing secret`(status: Int, reply: String, code: String) async throws {
        try await withServer { connection, request in
            let state = FormFields(query: request.body)?["state"] ?? "none"
            connection.reply(status, reply.replacing("{state}", with: state))
        } _: { scripted in
            let server = AuthorizationServer(
                authorizationURL: try scripted.url,
                tokenURL: try scripted.url,
                pushedAuthorizationURL: try scripted.url
            )
            let error = await #expect(throws: LoginError.self) {
                try await AuthorizationCodeLogin(
                    at: server,
                    with: try scripted.endpoint(authentication: Self.authentications[2]),
                    redirectURI: Self.redirectURI
                )
            }
            #expect(error?.logCode == code)
            let body = try #require(scripted.requests.first?.body)
            #expect(body.contains("code_challenge=") && body.components(separatedBy: "client_id=").count == 2)
            let state = try #require(FormFields(query: body)?["state"])
            for secret in [Self.secret, state] { #expect(!everythingShown(by: error as Any).contains(secret)) }
            #expect(error?.serverExplanation?.contains(state) != true)
        }
    }

    @Test func `that is not answered ends at the endpoint's deadline`() async throws {
        let (clock, isTested) = (ManualClock(), Gate())
        try await withServer { _, _ in
            isTested.pass()
        } _: { scripted in
            defer { isTested.open() }
            let server = AuthorizationServer(
                authorizationURL: try scripted.url,
                tokenURL: try scripted.url,
                pushedAuthorizationURL: try scripted.url
            )
            let endpoint = try scripted.endpoint(clock: clock)
            let login = Task {
                try await AuthorizationCodeLogin(at: server, with: endpoint, redirectURI: Self.redirectURI)
            }
            await yieldUntil { scripted.requests.count == 1 && clock.pendingTimers == 1 }
            clock.advance(by: endpoint.deadline)
            let error = await #expect(throws: LoginError.self) { try await login.valueInTime }
            #expect(error?.isTransient == true && error?.logCode == "timed_out")
        }
    }
}
