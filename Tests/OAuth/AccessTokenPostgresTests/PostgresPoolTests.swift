#if Postgres
import AccessTokenContract
import AccessTokenCore
import Foundation
import TestSupport
import Testing

@testable import AccessTokenPostgres

@Suite("The connections of the store in PostgreSQL", .takesTurns, .needsPostgres, .endsHangs)
struct PostgresPoolTests {
    private static let pooler = ProcessInfo.processInfo.environment["ACCESS_TOKEN_PGBOUNCER"]

    private let database: TestDatabase

    init() async throws { database = try await TestDatabase() }

    /// The connection string of a role of its own, which may have so many connections.
    private func role(limit: Int) async throws -> String {
        let role = "role\(database.application)"
        try await database.run("CREATE ROLE \(role) LOGIN CONNECTION LIMIT \(limit) PASSWORD 's3cret'")
        try await database.run("GRANT ALL ON SCHEMA \(database.application) TO \(role)")
        return "\(database.connectionString) user=\(role) password=s3cret"
    }

    @Test func `a role with fewer connections than the pool is served by those that it has`() async throws {
        let stores = PostgresCredentialStores(try await role(limit: 5), connections: 8)
        for round in 1...2 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        // Readers need no sign of life, and take all connections first.
                        _ = try await stores.store(for: "\(number)").load()
                        try await stores.store(for: "\(number)").update { _ in
                            .replace(Credential(refreshToken: "\(round)"))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        for number in 0..<50 {
            let record = try await stores.store(for: "\(number)").load()
            #expect(record?.credential.refreshToken == "2")
        }
        let held = try await database.run("SELECT 1 FROM access_token_credentials WHERE holder IS NOT NULL")
        #expect(held.isEmpty)
    }

    /// The server refuses the others while the one that it allows is not open yet.
    @Test func `callers that begin at once wait for the connection that the server allows`() async throws {
        let role = try await role(limit: 1)
        for _ in 1...10 {
            let stores = PostgresCredentialStores(role, connections: 8)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 { group.addTask { _ = try await stores.store(for: "\(number)").load() } }
                try await group.waitForAll()
            }
            _ = await stores.pool.makeRoom()
            try await database.waitForConnections(0, where: "usename <> current_user")
        }
    }

    @Test func `an error says how many connections are open, and how many were refused`() async throws {
        // A superuser has no limit, and a role has one that has no connection left.
        let stores = PostgresCredentialStores(try await role(limit: 0), connections: 8)
        let error = await #expect(throws: CredentialStoreError.self) { try await stores.store(for: "x").load() }
        #expect(error?.description.contains("no connection is open, and 1 could not be opened") == true)
        #expect(error?.description.contains("too many connections") == true)
        #expect(error?.isTransient == true)
    }

    @Test(.enabled(if: pooler != nil, "There is no PgBouncer: .ci/deep postgres starts one"))
    func `a pooler that gives connections out by transaction is refused at the first update`() async throws {
        let store = PostgresCredentialStores(try #require(Self.pooler)).store(for: database.application)
        let start = ContinuousClock.now
        let error = await #expect(throws: CredentialStoreError.self) {
            try await store.update { _ in
                Issue.record("the body was run")
                return .keep
            }
        }
        #expect(error?.description.contains("pool_mode=session") == true)
        #expect(error?.isTransient == false)
        #expect(start.duration(to: .now) < .seconds(5))
    }

    @Test func `connections from before a silence are not tried one after the other`() async throws {
        let proxy = try DatabaseProxy.toServer()
        defer { proxy.stop() }
        let stores = PostgresCredentialStores(proxy.connectionString(database.connectionString), connections: 2)
        // Longer than it takes to open the second connection.
        let both = { @Sendable in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...2 {
                    group.addTask {
                        try await stores.pool.run { connection throws(PostgresFailure) in
                            _ = try connection.run("SELECT pg_sleep(0.5)")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        try await both()
        #expect(proxy.accepted == 2)
        proxy.fallSilent()
        _ = try await stores.store(for: "x").load()
        #expect(stores.pool.losses == 1)
        try await both()
        #expect(stores.pool.losses == 1)
        #expect(proxy.accepted == 4)
    }

    @Test func `beside one that is open, a connection that was refused is not tried again, nor given to who waits`()
        async throws
    {
        let proxy = try DatabaseProxy.toServer()
        defer { proxy.stop() }
        let stores = PostgresCredentialStores(proxy.connectionString(database.connectionString), connections: 4)
        let user = stores.store(for: "x")
        _ = try await user.load()
        // Whoever waits does so until this statement is over.
        async let statement: Void = stores.pool.run { connection throws(PostgresFailure) in
            _ = try connection.run("SELECT pg_sleep(3)")
        }
        try await database.waitForConnections(1, where: "state = 'active'")
        // Both loads have taken a connection before the first one is refused.
        proxy.refuse(true, after: 0.5)
        async let first = user.load()
        async let second = user.load()
        _ = try await (statement, first, second)
        #expect(proxy.accepted == 1)
        #expect(proxy.refused == 2)
    }

    @Test func `a connection that was used a moment ago stays open when the others rest`() async throws {
        let proxy = try DatabaseProxy.toServer()
        defer { proxy.stop() }
        let (clock, limit) = (ManualClock(), PostgresPool.restLimit)
        let string = proxy.connectionString(database.connectionString)
        let stores = PostgresCredentialStores(string, connections: 1, clock: clock)
        for _ in 1...4 {
            _ = try await stores.store(for: "x").load()
            clock.advance(by: limit * 0.6)
        }
        #expect(proxy.accepted == 1)
        clock.advance(by: limit * 2)
        await yieldUntil { clock.pendingTimers == 0 }
        _ = try await stores.store(for: "x").load()
        #expect(proxy.accepted == 2)
    }

    @Test func `accounts are listed page by page, with the time of the last renewal`() async throws {
        let stores = database.stores()
        #expect(try await stores.accounts().isEmpty)
        let obtained = Date.now.addingTimeInterval(-100)
        for number in 1...7 {
            let credential = Credential(refreshToken: "RT", obtained: number == 3 ? nil : obtained)
            try await stores.store(for: "user \(number)").update { _ in .replace(credential) }
        }
        try await stores.store(for: "user 4").update { _ in .remove }
        var listed: [ListedAccount] = []
        var page = try await stores.accounts(most: 2)
        while let last = page.last {
            #expect(page.count <= 2)
            listed += page
            page = try await stores.accounts(after: last.name, most: 2)
        }
        #expect(listed.map(\.name) == [1, 2, 3, 5, 6, 7].map { "user \($0)" })
        #expect(listed.map { $0.renewed != nil } == [true, true, false, true, true, true])
        for account in listed { #expect(abs((account.renewed ?? obtained).timeIntervalSince(obtained)) < 30) }
    }
}
#endif
