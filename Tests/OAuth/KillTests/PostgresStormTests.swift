#if Postgres && (os(macOS) || os(Linux))
import AccessTokenAsync
import AccessTokenOAuth
import AccessTokenPostgres
import AccessTokenSynchronization
import Dispatch
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

private let environment = ProcessInfo.processInfo.environment

/// Three processes that want the tokens of the same users, at a strict server that is slow, while their way to the
/// database fails.
@Suite("Processes that lose their database all the time", .serialized, .endsHangs)
struct PostgresStormTests {
    private static let (users, processes) = (150, 3)

    private let row = UUID().uuidString
    private let connection = environment["ACCESS_TOKEN_POSTGRES"] ?? ""

    @Test(.enabled(if: environment["POSTGRES_STORM"] != nil, "It takes a minute: .ci/deep postgres"))
    func `cut each 0.7 seconds, lose no session, and leave no row with a holder`() async throws {
        try await loseNothing { isEnough in
            let start = ContinuousClock.now
            // A busy machine needs longer for as many renewals.
            while start.duration(to: .now) < .seconds(isEnough() ? 25 : 180) {
                try await Task.sleep(for: .seconds(0.7))
                try await answer(
                    to: """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE application_name = 'access-token-service' AND pid <> pg_backend_pid()
                        """
                )
            }
        }
    }

    @Test(.enabled(if: environment["ACCESS_TOKEN_POSTGRES_FAIL_OVER"] != nil, "There is no replica: .ci/deep postgres"))
    func `lose no session in a fail-over to a synchronous replica`() async throws {
        try await loseNothing { _ in
            try await Task.sleep(for: .seconds(6))
            let failOver = Process()
            failOver.executableURL = URL(filePath: environment["ACCESS_TOKEN_POSTGRES_FAIL_OVER"] ?? "")
            try failOver.run()
            failOver.waitUntilExit()
            try #require(failOver.terminationStatus == 0)
            try await Task.sleep(for: .seconds(15))
        }
    }

    /// What a fleet has to show after some trouble: each session lives, each process gets each token, and no row is
    /// held.
    ///
    /// - Parameter trouble: is told whether there were more requests than users.
    private func loseNothing(during trouble: (_ isEnough: () -> Bool) async throws -> Void) async throws {
        let reused = Locked<[TokenName]>([])
        let server = try RotatingAuthorizationServer { event in
            if case .reuseDetected(let name) = event { reused.withLock { $0.append(name) } }
        }
        defer { server.stop() }
        for _ in 0..<10_000 { server.fail(.slow(.random(in: 0.3...8))) }
        let stores = PostgresCredentialStores(connection)
        for user in 0..<Self.users {
            let credential = Credential(refreshToken: server.signIn().refreshToken)
            try await stores.store(for: "\(row) \(user)").update { _ in .replace(credential) }
        }
        let options = [
            "endpoint": server.tokenEndpoint.absoluteString, "users": "\(Self.users)", "deadline": "30",
        ]
        let workers = try (0..<Self.processes).map { _ in try Worker("crowd", ["row": row], options) }
        for worker in workers { _ = try await worker.line("begins") }
        try await trouble { server.tally.tokenRequests > Self.users }
        let requests = server.tally.tokenRequests
        print("Storm: \(requests) requests for \(Self.users) users")
        #expect(requests > Self.users)
        for worker in workers { try worker.goOn() }
        for worker in workers {
            _ = try await worker.line("done")
            #expect(!worker.lines.contains { $0.hasPrefix("error") }, "\(worker.lines)")
        }
        #expect(reused.withLock { $0 } == [])
        #expect(server.tally.revokedFamilies == 0)
        let held = "SELECT name FROM access_token_credentials WHERE holder IS NOT NULL AND starts_with(name, $1)"
        #expect(try await answer(to: held, [Data(row.utf8)]).rows.count == 0)
        for worker in workers { try await worker.end() }
    }

    /// The answer to a statement of the test's own, on a connection that no cut is meant for.
    ///
    /// The processes keep all processors busy while they wait for replies. A server that is kept from answering in time
    /// is asked again: the test judges the processes, and not the server.
    @discardableResult
    private func answer(to statement: String, _ values: [Data] = []) async throws -> PostgresReply {
        let executor = DispatchQueueExecutor(queue: DispatchQueue(label: "storm"))
        let server = PostgresServer("\(connection) application_name=storm")
        for _ in 0..<20 {
            let connection = PostgresConnection(to: server, on: executor)
            if (try? await connection.open()) != nil, let reply = try? await connection.run(statement, values) {
                return reply
            }
        }
        let connection = PostgresConnection(to: server, on: executor)
        try await connection.open()
        return try await connection.run(statement, values)
    }
}
#endif
