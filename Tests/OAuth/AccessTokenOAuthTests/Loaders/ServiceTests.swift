import AccessTokenAdapters
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Services of both kinds on one credential, at a server that rotates", .eightAtATime, .timeLimit(.minutes(10)))
struct ServiceTests {
    private static let rounds = 20
    private static let callers = 100

    private func withServer(
        _ body: (RotatingAuthorizationServer, MemoryCredentialStore, OAuthLoader) async throws -> Void
    ) async throws {
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let store = MemoryCredentialStore(Credential(refreshToken: server.signIn().refreshToken))
        try await body(server, store, OAuthLoader(endpoint: server.endpoint, store: store))
    }

    /// Round after round, all callers find their token rejected, and must end with the same new one.
    private func roundsOfRejection(
        _ services: [any AsyncAccessTokenProviding],
        _ server: RotatingAuthorizationServer
    ) async throws {
        var rejected: AccessToken?
        for round in 1...Self.rounds {
            let values = try await withThrowingTaskGroup(of: AccessToken.self) { [rejected] group in
                for number in 0..<Self.callers {
                    group.addTask {
                        let service = services[number % services.count]
                        if let rejected { await service.invalidate(rejected) }
                        return try await service.token()
                    }
                }
                return try await group.reduce(into: Set<AccessToken>()) { $0.insert($1) }
            }
            #expect(values.count == 1)
            #expect(server.tally.tokenRequests == round)
            rejected = values.first
        }
        #expect(server.tally.reuses == 0)
    }

    @Test func `an actor and a queue service that share a credential exchange once for both`() async throws {
        try await withServer { (server, store, loader) async throws in
            let other = OAuthLoader(endpoint: loader.endpoint, store: store)
            try await roundsOfRejection(
                [
                    AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline),
                    AccessTokenService(loader: CallbackLoaderAdapter(of: other), policy: .withoutLoadDeadline),
                ],
                server
            )
        }
    }

    @Test func `a spent refresh token reaches all callers once as the need to sign in, and signing in heals`()
        async throws
    {
        try await withServer { (server, store, loader) async throws in
            // A thief was faster.
            _ = try await loader.endpoint.exchange(.refreshToken(try #require(try await store.refreshToken)))
            let service = AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.callers {
                    group.addTask {
                        let error = await #expect(throws: (any Error).self) { try await service.token() }
                        let isKnown =
                            (error as? OAuthError)?.requiresSignIn ?? (error as? AccessTokenError == .signedOut)
                        #expect(isKnown)
                    }
                }
            }
            #expect(server.tally.tokenRequests == 2)
            #expect(server.tally.reuses == 1)
            try await loader.signIn(Credential(refreshToken: server.signIn().refreshToken))
            _ = try await service.token()
        }
    }
}
