import AccessTokenAdapters
import AccessTokenOAuth
import Foundation
import TestSupport
import Testing

@Suite("All loaders together, at a server in trouble", .eightAtATime, .timeLimit(.minutes(10)))
struct TroubledServerTests {
    private static let callers = 50

    private func service(
        at server: ScriptedServer,
        retries: Int = 10,
        pause: TimeInterval = 0
    ) throws -> AsyncAccessTokenService {
        let store = MemoryCredentialStore(Credential(refreshToken: "RT0"))
        let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
        let retrying = RetryingLoader(loader, retries: retries, clock: InstantClock())
        return AsyncAccessTokenService(
            loader: ThrottlingLoader(retrying, pause: pause),
            policy: .withoutLoadDeadline
        )
    }

    private func outcomes(of service: AsyncAccessTokenService) async -> [Result<AccessToken, any Error>] {
        await withTaskGroup(of: Result<AccessToken, any Error>.self) { group in
            for _ in 0..<Self.callers {
                group.addTask {
                    do { return .success(try await service.token()) } catch { return .failure(error) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `ten times a server error, and all callers get the token of the eleventh try`() async throws {
        try await withServer { connection, _ in
            if connection.number <= 10 { return connection.reply(500, "<html>") }
            connection.reply(200, tokens("A", "RT1"))
        } _: { server in
            let values = await outcomes(of: try service(at: server)).compactMap { try? $0.get().value }
            #expect(values == Array(repeating: "A", count: Self.callers))
            #expect(server.requests.count == 11)
            #expect(Set(server.requests.map(\.body)).count == 1)
        }
    }

    @Test func `a reply that is cut is asked for once again, and no more than that`() async throws {
        for isHealed in [true, false] {
            try await withServer { connection, _ in
                guard connection.number == 1 || !isHealed else { return connection.reply(200, tokens("A", "RT1")) }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n\(tokens("A", "RT1"))")
            } _: { server in
                let values = await outcomes(of: try service(at: server, pause: 60)).compactMap { try? $0.get() }
                #expect(values.count == (isHealed ? Self.callers : 0))
                #expect(server.requests.count == 2)
            }
        }
    }

    @Test func `garbage reaches all callers at once, and the throttle keeps them from asking again`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, "\u{0}\u{1}garbage")
        } _: { server in
            let service = try service(at: server, pause: 60)
            for _ in 0..<2 {
                let errors = await outcomes(of: service).map { result -> OAuthError? in
                    if case .failure(let error) = result { error as? OAuthError } else { nil }
                }
                #expect(Set(errors) == [.notUnderstood(status: 200, "it is not a JSON object")])
            }
            #expect(server.requests.count == 1)
        }
    }
}
