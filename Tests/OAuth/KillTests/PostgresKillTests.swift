#if Postgres && (os(macOS) || os(Linux))
import AccessTokenAsync
import AccessTokenOAuth
import AccessTokenPostgres
import Dispatch
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

private let connection = ProcessInfo.processInfo.environment["ACCESS_TOKEN_POSTGRES"]

@Suite(
    "Processes that share a database, and are killed",
    .takesTurnsToWait,
    .serialized,
    .endsHangs,
    .enabled(if: connection != nil, "There is no PostgreSQL: .ci/deep postgres starts one")
)
struct PostgresKillTests {
    private static let kills = ProcessInfo.processInfo.environment["KILLS"].flatMap { Int($0) } ?? 100

    private let row = UUID().uuidString
    private var place: [String: String] { ["row": row] }

    private func store(waitLimit: TimeInterval = 60) -> any CredentialStore {
        PostgresCredentialStores(connection ?? "", connections: 2, waitLimit: waitLimit).store(for: row)
    }

    /// Ends the connections of the workers, and returns when they are gone.
    private func cut() async throws {
        let executor = DispatchQueueExecutor(queue: DispatchQueue(label: "cut"))
        let own = PostgresConnection(to: PostgresServer(connection ?? ""), on: executor)
        try await own.open()
        try await own.run(
            """
            SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
            WHERE application_name = 'access-token-service' AND pid <> pg_backend_pid()
            """
        )
    }

    @Test(arguments: [3600, 0])
    func `lose no session of a server with a grace, and on a strict one only by a death between sending and saving`(
        grace: TimeInterval
    ) async throws {
        // Each death inside costs the others as long.
        let place = place.merging(["delay": "5"]) { $1 }
        try await Massacre(place: place, store: store(), grace: grace, kills: Self.kills).losesOnlyWhatIsExplained()
    }

    @Test func `let the next one in when one dies inside`() async throws {
        try await store().update { _ in .replace(Credential(refreshToken: "RT1")) }
        let holder = try Worker("hold", place)
        _ = try await holder.line("holds")
        await #expect(throws: CredentialStoreError.busy) { try await store(waitLimit: 0.05).update { _ in .keep } }
        try await holder.end()
        let record = try await store().update {
            $0 == nil ? .keep : .replace(Credential(refreshToken: "RT2"))
        }
        #expect(record?.credential.refreshToken == "RT2")
    }

    @Test func `keep the others out while one is stopped inside, and load all the same`() async throws {
        try await store().update { _ in .replace(Credential(refreshToken: "RT1")) }
        let holder = try Worker("hold", place)
        _ = try await holder.line("holds")
        holder.send(SIGSTOP)
        await #expect(throws: CredentialStoreError.busy) { try await store(waitLimit: 3).update { _ in .keep } }
        #expect(try await store().load()?.credential.refreshToken == "RT1")
        holder.send(SIGCONT)
        try holder.goOn()
        _ = try await holder.line("written")
        #expect(try await store().load()?.credential.refreshToken == "late")
        try await holder.end()
    }

    @Test func `let the next one in when one is stopped and cut, and let that one write no more`() async throws {
        try await store().update { _ in .replace(Credential(refreshToken: "RT1")) }
        let holder = try Worker("hold", place)
        _ = try await holder.line("holds")
        holder.send(SIGSTOP)
        try await cut()
        let record = try await store().update { _ in .replace(Credential(refreshToken: "RT2")) }
        holder.send(SIGCONT)
        try holder.goOn()
        #expect(try await holder.line("error ") == "\(CredentialStoreError.superseded)")
        #expect(try await store().load() == record)
        try await holder.end()
    }

    @Test func `exchange once when fifty begin at the same moment`() async throws {
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        try await store().update { _ in .replace(Credential(refreshToken: server.signIn().refreshToken)) }
        let options = ["endpoint": server.tokenEndpoint.absoluteString]
        let workers = try (0..<50).map { _ in try Worker("load", place, options) }
        var tokens: Set<String> = []
        for worker in workers {
            _ = try await worker.line("done")
            #expect(!worker.lines.contains { $0.hasPrefix("error") }, "\(worker.lines)")
            tokens.insert(try await worker.line("token "))
            try await worker.end()
        }
        #expect(tokens.count == 1)
        #expect(server.tally.tokenRequests == 1)
    }

    @Test func `wait for the reply of one whose connection was cut during the exchange`() async throws {
        let isAsked = Event()
        let server = try RotatingAuthorizationServer { event in
            if case .tokenRequested = event { isAsked.happen() }
        }
        defer { server.stop() }
        try await store().update { _ in .replace(Credential(refreshToken: server.signIn().refreshToken)) }
        server.fail(.slow(3))
        let options = ["endpoint": server.tokenEndpoint.absoluteString]
        let first = try Worker("load", place, options)
        await isAsked.wait()
        let second = try Worker("load", place, options)
        try await cut()
        let token = try await first.line("token ")
        #expect(try await second.line("token ") == token)
        #expect(server.tally.tokenRequests == 1)
        #expect(server.tally.reuses == 0)
        for worker in [first, second] { try await worker.end() }
    }
}
#endif
