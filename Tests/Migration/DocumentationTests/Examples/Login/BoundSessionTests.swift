import AccessTokenAsync
import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer
import TestKeys
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The session with a key of the documentation")
struct BoundSessionTests {
    private func withServer(_ body: (RotatingAuthorizationServer) async throws -> Void) async throws {
        let server = try RotatingAuthorizationServer(
            clients: [.public("app", redirectURIs: ["com.example.app:/callback"])],
            proofs: ProofDemand(nonceUses: 2)
        )
        defer { server.stop() }
        try await body(server)
    }

    @Test func `logs in, asks for things, and renews after a 401`() async throws {
        try await withServer { server in
            let session = try await boundSession(
                at: server.issuer,
                for: server.resource,
                store: MemoryCredentialStore(),
                keys: .ofThisMachine
            ) { url in try #require(server.redirect(for: url, user: "alice")) }
            for _ in 0..<4 {
                let (data, _) = try await session.data(for: URLRequest(url: server.resource))
                #expect(String(decoding: data, as: UTF8.self).contains("alice"))
                server.expireAccessTokens()
            }
            #expect(server.tally.reuses == 0)
        }
    }

    @Test func `is refused by the loopback server without a proof, with the reason`() async throws {
        let server = try RotatingAuthorizationServer(proofs: ProofDemand(nonceUses: 2))
        defer { server.stop() }
        let client = ClientAuthentication.none(clientID: RotatingAuthorizationServer.clientID)
        let endpoint = TokenEndpoint(server.tokenEndpoint, authentication: client)
        let error = await #expect(throws: OAuthError.refused("invalid_dpop_proof")) {
            try await endpoint.exchange(.refreshToken(server.signIn().refreshToken))
        }
        #expect(error?.serverExplanation == "4.3.1: there are 0 DPoP fields")
    }

    @Test func `is one of an HTTP client of your own as well`() async throws {
        try await withServer { server in
            let store = MemoryCredentialStore()
            let keys = ProofKeys.ofThisMachine
            _ = try await boundSession(at: server.issuer, for: server.resource, store: store, keys: keys) { url in
                try #require(server.redirect(for: url, user: "bob"))
            }
            var endpoint = TokenEndpoint(server.tokenEndpoint, authentication: .none(clientID: "app"))
            endpoint.proofKeys = keys
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            let client = BoundClient(
                tokens: AsyncAccessTokenService(loader: loader),
                proofs: loader.proofs,
                session: URLSession(configuration: .keepingNothing)
            )
            for _ in 0..<4 {
                let reply = try await client.reply(to: URLRequest(url: server.resource))
                #expect(reply.response.statusCode == 200)
                server.expireAccessTokens()
            }
        }
    }
}
