import AccessTokenAdapters
import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The code of the documentation's pages, run.
@Suite("What the documentation of this product shows", .eightAtATime, .timeLimit(.minutes(10)))
struct DocumentedExampleTests {
    /// A callback loader as legacy code has it: it fails once, and then brings a token.
    private final class LegacyLoader: AccessTokenLoader {
        let loads = Locked(0)

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            let number = loads.withLock { loads in
                loads += 1
                return loads
            }
            handler(number == 1 ? .failure(OAuthError.unavailable(status: 500)) : .success(AccessToken(value: "A")))
        }

        func signOut(then done: @escaping @Sendable () -> Void) { done() }
    }

    @Test func `a callback loader gets retries and a throttle through the adapters`() async throws {
        let legacyLoader = LegacyLoader()
        let loader = ThrottlingLoader(RetryingLoader(AsyncLoaderAdapter(of: legacyLoader)))
        let service = AccessTokenService(loader: CallbackLoaderAdapter(of: loader))
        let value = try await withCheckedThrowingContinuation { continuation in
            ask(service) { continuation.resume(with: $0.map(\.value)) }
        }
        #expect(value == "A")
        #expect(legacyLoader.loads.withLock { $0 } == 2)
    }

    private func ask(_ service: AccessTokenService, then handler: @escaping AccessTokenHandler) {
        service.retrieveToken(then: handler)
    }

    private func yourClient(tokenURL: URL, refreshToken: String) -> AsyncAccessTokenService {
        let authentication = ClientAuthentication.none(clientID: RotatingAuthorizationServer.clientID)
        let endpoint = TokenEndpoint(tokenURL, authentication: authentication)
        let store = MemoryCredentialStore(Credential(refreshToken: refreshToken))
        return AsyncAccessTokenService(loader: OAuthLoader(endpoint: endpoint, store: store))
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
            try await TokenEndpoint(server.tokenEndpoint, authentication: authentication).exchange(grant)
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

    @Test func `errors match by pattern`() {
        func name(_ error: any Error) -> String {
            switch error {
            case OAuthError.timedOut: "timed out"
            case OAuthError.refused("invalid_grant"): "sign in"
            case CredentialStoreError.busy: "busy"
            default: "other"
            }
        }
        #expect(name(OAuthError.timedOut) == "timed out")
        #expect(name(OAuthError.refused("invalid_grant", explanation: "spent")) == "sign in")
        #expect(name(CredentialStoreError.busy) == "busy")
        #expect(name(CancellationError()) == "other")
    }

    @Test func `an endpoint's own configuration is used, without cookies, and its time-outs are not`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A1"), fields: ["Set-Cookie": "session=1; Path=/"])
        } _: { server in
            let configuration = URLSessionConfiguration.default
            configuration.httpAdditionalHeaders = ["X-Own": "yes"]
            configuration.timeoutIntervalForRequest = 0.001
            var endpoint = try server.endpoint()
            endpoint.configuration = configuration
            // It was copied.
            configuration.httpAdditionalHeaders = ["X-Own": "no"]
            for _ in 0..<2 { _ = try await endpoint.exchange(.refreshToken("RT0")) }
            #expect(server.requests.map { $0.fields["x-own"] } == ["yes", "yes"])
            #expect(server.requests.map { $0.fields["cookie"] } == [nil, nil])
            #expect(endpoint.configuration?.httpAdditionalHeaders?["X-Own"] as? String == "yes")
        }
    }
}
