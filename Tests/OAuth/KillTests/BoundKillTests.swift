#if os(macOS) || os(Linux)
import Foundation
import LoopbackAuthorizationServer
import TestKeys
import TestSupport
import Testing

@testable import AccessTokenOAuth

/// `FileStoreKillTests` has many such processes that are killed at any moment; here the moment is known.
@Suite("Processes that share a session with a key", .takesTurnsToWait, .serialized, .endsHangs)
final class BoundKillTests {
    private let session = FileManager.default.temporaryDirectory.appending(path: "bound-\(UUID().uuidString)")
    private var place: [String: String] { ["folder": session.path] }
    private var store: FileCredentialStore { FileCredentialStore(folder: session) }

    deinit {
        try? FileManager.default.removeItem(at: session)
    }

    /// A server that challenges each process once, and a stored session of a login there, whose token has expired.
    private func withSession(
        grace: TimeInterval = 0,
        _ body: (RotatingAuthorizationServer, _ options: [String: String], Credential) async throws -> Void
    ) async throws {
        let demand = ProofDemand(nonceUses: 0, namesNonceAlways: false)
        let server = try RotatingAuthorizationServer(grace: grace, proofs: demand)
        defer { server.stop() }
        var endpoint = TokenEndpoint(server.tokenEndpoint, authentication: .none(clientID: "loopback-client"))
        endpoint.proofKeys = .ofThisMachine
        let login = try AuthorizationCodeLogin(
            at: AuthorizationServer(authorizationURL: server.authorizationEndpoint, tokenURL: server.tokenEndpoint),
            clientID: "loopback-client",
            redirectURI: "http://127.0.0.1:1/callback",
            proofKeys: endpoint.proofKeys
        )
        let redirect = try #require(server.redirect(for: login.url, user: "alice"))
        let grant = try login.grant(from: redirect)
        let response = try await endpoint.exchange(grant)
        let expired = AccessToken(value: response.accessToken.value, expiration: .distantPast)
        let credential = Credential(
            TokenResponse(accessToken: expired, refreshToken: response.refreshToken)
                .bound(to: try #require(grant.key))
        )
        try await store.update { _ in .replace(credential) }
        try await body(server, ["endpoint": server.tokenEndpoint.absoluteString, "keys": "own"], credential)
    }

    /// Kills a process at a moment of its first load, and has another one load.
    private func killed(
        at moment: String,
        grace: TimeInterval,
        _ body: (RotatingAuthorizationServer, _ next: Worker, Credential) async throws -> Void
    ) async throws {
        try await withSession(grace: grace) { server, options, credential in
            let victim = try Worker("load", place, options.merging(["stops-at": moment, "deadline": "1"]) { $1 })
            _ = try await victim.line("stops \(moment)")
            try await victim.end()
            let next = try Worker("load", place, options)
            try await body(server, next, credential)
            try await next.end()
        }
    }

    /// The server has refused the proof, and has not looked at the refresh token.
    @Test func `lose nothing when one dies between the challenge and the repeat, also at a strict server`() async throws
    {
        try await killed(at: "repeat", grace: 0) { server, next, credential in
            let token = try await next.line("token ")
            let left = try #require(try await store.load()?.credential)
            #expect(left.accessToken?.value == token && left.proofKey == credential.proofKey)
            #expect(left.refreshToken != credential.refreshToken)
            #expect(server.tally.reuses == 0)
            // One challenge for the login, one for each process.
            #expect(server.tally.refusedProofs == 3 && server.tally.tokenRequests == 5)
        }
    }

    @Test func `lose nothing when one dies between the reply and the save, at a server with a grace`() async throws {
        try await killed(at: "save", grace: 3600) { server, next, credential in
            let token = try await next.line("token ")
            let left = try #require(try await store.load()?.credential)
            #expect(left.accessToken?.value == token && left.proofKey == credential.proofKey)
            #expect(server.tally.reuses == 0)
        }
    }

    /// Nobody can save this session: the only place of the next refresh token has died.
    @Test func `ask for a login when one dies between the reply and the save, at a strict server`() async throws {
        try await killed(at: "save", grace: 0) { server, next, _ in
            let error = try await next.line("error ")
            #expect(error.contains("sign in again"), "\(error)")
            #expect(server.tally.reuses == 1)
        }
    }

    @Test func `load once, however many find its token expired`() async throws {
        try await withSession { server, options, credential in
            let workers = try (0..<10).map { _ in try Worker("load", place, options) }
            var tokens: Set<String> = []
            for worker in workers { tokens.insert(try await worker.line("token ")) }
            for worker in workers { try await worker.end() }
            #expect(tokens.count == 1)
            // The login's, and one.
            #expect(server.tally.tokenRequests - server.tally.refusedProofs == 2)
            #expect(server.tally.reuses == 0)
            #expect(try await store.load()?.credential.proofKey == credential.proofKey)
        }
    }
}
#endif
