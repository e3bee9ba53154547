import AccessTokenContract
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import AccessTokenOAuth

/// Two of everything on one folder, as two processes have it.
@Suite("Two processes on one folder", .eightAtATime, .timeLimit(.minutes(10)))
struct TwoProcessesTests {
    private struct Opening {
        let store: FileCredentialStore
        let service: AsyncAccessTokenService

        init(_ place: TemporaryFolder, _ server: RotatingAuthorizationServer) {
            store = FileCredentialStore(folder: place.session)
            service = AsyncAccessTokenService(
                loader: OAuthLoader(endpoint: server.endpoint, store: store),
                policy: .withoutLoadDeadline
            )
        }
    }

    private let place = TemporaryFolder()

    private func signIn(to server: RotatingAuthorizationServer) async throws -> (Opening, Opening) {
        let openings = (Opening(place, server), Opening(place, server))
        try await openings.0.store.update { _ in .replace(Credential(refreshToken: server.signIn().refreshToken)) }
        return openings
    }

    @Test func `with fifty callers each, they exchange once`() async throws {
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let (one, other) = try await signIn(to: server)
        let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
            for _ in 0..<50 {
                group.addTask { try await one.service.token() }
                group.addTask { try await other.service.token() }
            }
            return try await group.reduce(into: Set<AccessToken>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
        #expect(server.tally.tokenRequests == 1)
    }

    @Test func `a rejected token costs one exchange, and the slower one adopts`() async throws {
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let (one, other) = try await signIn(to: server)
        let first = try await one.service.token()
        #expect(try await other.service.token() == first)
        await one.service.invalidate(first)
        let second = try await one.service.token()
        await other.service.invalidate(first)
        #expect(try await other.service.token() == second)
        #expect(server.tally.tokenRequests == 2)
    }

    @Test func `two stores of one folder wait for one late reply`() async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            if connection.number == 1 { gate.pass() }
            connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)"))
        } _: { server in
            defer { gate.open() }
            let clock = ManualClock()
            let endpoint = try server.endpoint(clock: clock)
            let (one, other) = (FileCredentialStore(folder: place.session), FileCredentialStore(folder: place.session))
            try await one.update { _ in .replace(Credential(refreshToken: "RT0")) }
            await OAuthLoader(endpoint: endpoint, store: one).timeOut(replacing: nil, at: server, by: clock)
            let load = Task { try await OAuthLoader(endpoint: endpoint, store: other).load(replacing: nil) }
            await yieldUntil { clock.pendingTimers == 1 }
            gate.open()
            #expect(try await load.valueInTime.value == "A1")
            #expect(server.requests.count == 1)
        }
    }
}
