import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Faults of the loopback server", .takesTurns, .endsHangs)
struct LoopbackFaultTests {
    private func withServer(_ body: (RotatingAuthorizationServer, OAuthLoader) async throws -> Void) async throws {
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let store = MemoryCredentialStore(Credential(refreshToken: server.signIn().refreshToken))
        try await body(server, OAuthLoader(endpoint: server.endpoint, store: store))
    }

    @Test(arguments: [.cut, .lost] as [AuthorizationServerFault])
    func `a reply that does not arrive was carried out, and sending again is a reuse`(fault: AuthorizationServerFault)
        async throws
    {
        try await withServer { (server, loader) async throws in
            server.fail(fault)
            let error = await #expect(throws: OAuthError.self) { try await loader.load(replacing: nil) }
            #expect(error?.mayHaveBeenCarriedOut == true)
            #expect(server.tally.reuses == 0)
            await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: nil) }
            #expect(server.tally.reuses == 1)
            #expect(server.tally.revokedFamilies == 1)
            #expect(server.isRevoked(family: 1))
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `the resource fails when it is told to`(kind: SessionKind) async throws {
        try await withServer { (server, loader) async throws in
            let service = AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline)
            let session = kind.session(service, origins: [server.resource])
            server.fail(.unavailable(), .unauthorized, .cut, at: .resource)
            #expect(try await session.data(for: URLRequest(url: server.resource)).1.status == 503)
            // The one after the 401 is cut.
            await #expect(throws: URLError.self) { try await session.data(for: URLRequest(url: server.resource)) }
            #expect(try await session.data(for: URLRequest(url: server.resource)).1.status == 200)
            #expect(server.tally.tokenRequests == 2)
        }
    }
}
