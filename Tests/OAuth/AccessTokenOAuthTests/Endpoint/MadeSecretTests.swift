import AccessTokenSynchronization
import Foundation
import OAuthFoundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("A client secret that is made", .takesTurns, .endsHangs)
struct MadeSecretTests {
    /// The two ways in which a made secret is sent.
    enum Way: String, CaseIterable {
        case client_secret, client_assertion

        func authentication(_ make: @escaping @Sendable () async throws -> String) -> ClientAuthentication {
            switch self {
            case .client_secret: .postBody(clientID: "app", secret: make)
            case .client_assertion: .assertion(clientID: "app", make: make)
            }
        }
    }

    /// A server that takes part in every kind of request.
    private static let script: ScriptedServer.Script = { connection, request in
        switch request.line.split(separator: " ")[1] {
        case "/push": connection.reply(201, #"{"request_uri":"urn:r","expires_in":60}"#)
        case "/device":
            connection.reply(
                200,
                #"{"device_code":"D","user_code":"U","verification_uri":"https://as.example/","interval":1}"#
            )
        case "/revoke": connection.reply(200, "")
        default: connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)", lifetime: 1))
        }
    }

    private func server(_ server: ScriptedServer) throws -> AuthorizationServer {
        func place(_ path: String) throws -> URL { try server.url.deletingLastPathComponent().appending(path: path) }
        return AuthorizationServer(
            authorizationURL: URL(string: "https://as.example/authorize"),
            tokenURL: try server.url,
            deviceAuthorizationURL: try place("device"),
            revocationURL: try place("revoke"),
            pushedAuthorizationURL: try place("push")
        )
    }

    @Test(arguments: Way.allCases)
    func `is made anew for each request: push, code, device, device code, refresh and revocation`(way: Way) async throws
    {
        let count = Locked(0)
        let authentication = way.authentication {
            count.withLock { count in
                count += 1
                return "made-\(count)"
            }
        }
        try await withServer(Self.script) { scripted in
            let server = try server(scripted)
            let clock = PauseClock()
            var endpoint = TokenEndpoint(
                try scripted.url,
                authentication: authentication,
                revocationURL: server.revocationURL,
                deadline: 3600,
                clock: clock
            )
            endpoint.allowsInsecureHTTP = true

            let login = try await AuthorizationCodeLogin(at: server, with: endpoint, redirectURI: "app:/callback")
            let state = try #require(scripted.requests.first.flatMap { FormFields(query: $0.body)?["state"] })
            let redirect = try #require(URL(string: "app:/callback?code=c&state=\(state)"))
            let credential = Credential(try await endpoint.exchange(try login.grant(from: redirect)))
            let device = try await DeviceLogin(at: server, with: endpoint)
            let response = Task { try await device.response() }
            _ = await clock.endPause()
            _ = try await response.valueInTime

            let loader = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore(credential))
            _ = try await loader.load(replacing: credential.accessToken)
            await loader.signOut()

            let paths = scripted.requests.map { $0.line.split(separator: " ")[1] }
            #expect(paths == ["/push", "/token", "/device", "/token", "/token", "/revoke"])
            let secrets = scripted.requests.map { FormFields(query: $0.body)?[way.rawValue] }
            #expect(secrets == (1...6).map { "made-\($0)" })
        }
    }

    @Test(arguments: Way.allCases)
    func `that the server repeats is in no error`(way: Way) async throws {
        let reply = #"{"error":"invalid_client","error_description":"no: made-secret"}"#
        try await withServer(replying: 401, reply) { server in
            let endpoint = try server.endpoint(authentication: way.authentication { "made-secret" })
            let store = MemoryCredentialStore(Credential(refreshToken: "RT"))
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            let error = await #expect(throws: OAuthError.self) { try await loader.load(replacing: nil) }
            #expect(error?.isConfigurationMistake == true)
            #expect(!everythingShown(by: error as Any).contains("made-secret"))
            #expect(error?.serverExplanation?.contains("made-secret") != true)
            // The refresh token is not spent by a secret that is refused.
            #expect(try await store.refreshToken == "RT")
        }
    }
}
