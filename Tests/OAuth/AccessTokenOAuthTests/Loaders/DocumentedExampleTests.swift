import AccessTokenAdapters
import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

/// The code of the documentation's pages, run.
@Suite("What the documentation of this product shows", .takesTurns, .endsHangs)
struct DocumentedExampleTests {
    @Test func `a callback loader gets retries and a throttle through the adapters`() async throws {
        for (code, loads) in [(URLError.Code.cannotConnectToHost, 2), (.timedOut, 1)] {
            let base = ListLoader(.failure(URLError(code)), .success(AccessToken(value: "A")))
            let legacyLoader = CallbackLoaderAdapter(of: base)
            let answer = await told { handler in
                let retrying = RetryingLoader(
                    AsyncLoaderAdapter(of: legacyLoader),
                    isTransient: { [.notConnectedToInternet, .cannotConnectToHost].contains(($0 as? URLError)?.code) }
                )
                let service = AccessTokenService(loader: CallbackLoaderAdapter(of: ThrottlingLoader(retrying)))
                service.retrieveToken(then: handler)
            }
            #expect((try? answer.get().value == "A") == (loads == 2 ? true : nil))
            #expect(base.loads == loads)
        }
    }

    private func yourClient(tokenURL: URL, refreshToken: String) -> AsyncAccessTokenService {
        let authentication = ClientAuthentication.none(clientID: RotatingAuthorizationServer.clientID)
        let endpoint = TokenEndpoint(tokenURL, authentication: authentication, deadline: 3600)
        let store = MemoryCredentialStore(Credential(refreshToken: refreshToken))
        return AsyncAccessTokenService(
            loader: OAuthLoader(endpoint: endpoint, store: store),
            policy: .withoutLoadDeadline
        )
    }

    @Test func `fifty callers cost one exchange`() async throws {
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let client = yourClient(tokenURL: server.tokenEndpoint, refreshToken: server.signIn().refreshToken)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try await client.token() } }
            try await group.waitForAll()
        }
        #expect(server.tally.tokenRequests == 1)
        #expect(server.tally.reuses == 0)
    }

    @Test func `each client of the server has its own proof, and its own refresh tokens`() async throws {
        let server = try RotatingAuthorizationServer(clients: [.public("app"), .confidential("worker", secret: "s:+")])
        let session = server.signIn(clientID: "app")
        defer { server.stop() }
        func exchange(_ grant: TokenGrant, _ authentication: ClientAuthentication) async throws -> TokenResponse {
            let endpoint = TokenEndpoint(server.tokenEndpoint, authentication: authentication, deadline: 3600)
            return try await endpoint.exchange(grant)
        }
        for proof in [
            ClientAuthentication.basic(clientID: "worker", secret: "s:+"), .postBody(clientID: "worker", secret: "s:+"),
        ] {
            let response = try await exchange(.clientCredentials(), proof)
            #expect(response.refreshToken == nil)
            #expect(server.name(of: response.accessToken.value)?.description == "A1")
            await #expect(throws: OAuthError.refused("invalid_grant")) {
                try await exchange(.refreshToken(session.refreshToken), proof)
            }
        }
        for wrong in [
            ClientAuthentication.basic(clientID: "worker", secret: "x"), .none(clientID: "worker"),
            .postBody(clientID: "app", secret: "s:+"), .none(clientID: RotatingAuthorizationServer.clientID),
        ] {
            await #expect(throws: OAuthError.refused("invalid_client")) {
                try await exchange(.clientCredentials(), wrong)
            }
        }
        await #expect(throws: OAuthError.refused("unauthorized_client")) {
            try await exchange(.clientCredentials(), .none(clientID: "app"))
        }
        #expect(server.tally.reuses == 0)
        #expect(try await exchange(.refreshToken(session.refreshToken), .none(clientID: "app")).refreshToken != nil)
    }

    @Test(
        arguments: [
            (OAuthError.timedOut, "timed out"), (OAuthError.refused("invalid_grant", explanation: "spent"), "sign in"),
            (CredentialStoreError.busy, "busy"), (CancellationError(), "other"),
        ] as [(any Error, String)]
    )
    func `errors match by pattern`(error: any Error, name: String) {
        switch error {
        case OAuthError.timedOut: #expect(name == "timed out")
        case OAuthError.refused("invalid_grant"): #expect(name == "sign in")
        case CredentialStoreError.busy: #expect(name == "busy")
        default: #expect(name == "other")
        }
    }
}
