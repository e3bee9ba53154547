#if Postgres
import AccessTokenCore
import AccessTokenPostgres
import Foundation
import TestSupport
import Testing

private let isLong = ProcessInfo.processInfo.environment["POSTGRES_STORM"] != nil

@Suite(
    "Three processes whose connections are cut all the time",
    .serialized,
    .needsPostgres,
    .endsHangs,
    .enabled(if: isLong, "It takes a minute: .ci/deep postgres")
)
struct PostgresStormTests {
    @Test func `lose no session, and leave no row with a holder`() async throws {
        let database = try await TestDatabase()
        let connection = try #require(TestDatabase.connection)
        let host = try #require(connection.split(separator: " ").first { $0.hasPrefix("host=/") })
        let proxy = try DatabaseProxy(to: String(host.dropFirst("host=".count)))
        defer { proxy.stop() }
        let server = StrictServer { _ in try? await Task.sleep(for: .seconds(.random(in: 0.3...8))) }
        let users = (0..<150).map { "user\($0)" }
        let exchange = server.exchange(deadline: 30)
        let direct = database.stores(connections: 8)
        for user in users {
            try await direct.store(for: user).update { _ in .replace(server.signIn(user)) }
        }
        let isOver = Event()
        let cuts = Task {
            let end = ContinuousClock.now + .seconds(25)
            while ContinuousClock.now < end {
                try? await Task.sleep(for: .seconds(0.7))
                proxy.cut()
            }
            isOver.happen()
        }
        let processes = (0..<3).map { _ in
            PostgresCredentialStores(proxy.connectionString(database.connectionString), connections: 8)
        }
        await withTaskGroup(of: Void.self) { group in
            for stores in processes {
                for user in users {
                    group.addTask {
                        let loader = OAuthLoader(exchange, store: stores.store(for: user))
                        var old: AccessToken?
                        while !isOver.hasHappened {
                            if let token = try? await loader.load(replacing: old) { old = token }
                            try? await Task.sleep(for: .seconds(.random(in: 0.5...4)))
                        }
                    }
                }
            }
        }
        await cuts.value
        #expect(server.lostSessions == [])
        // Peace: everybody gets a token, and nobody is named.
        for stores in processes {
            for user in users {
                let loader = OAuthLoader(exchange, store: stores.store(for: user))
                await #expect(throws: Never.self) { _ = try await loader.load(replacing: nil) }
            }
        }
        let held = try await database.run("SELECT 1 FROM access_token_credentials WHERE holder IS NOT NULL").count
        #expect(held == 0)
        #expect(server.lostSessions == [])
    }
}
#endif
