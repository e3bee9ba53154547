#if Postgres
import AccessTokenAsync
import AccessTokenContract
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import AccessTokenPostgres

@Suite("How a process shows that it lives", .takesTurns, .needsPostgres, .endsHangs)
struct PostgresPresenceTests {
    private static let pooler = ProcessInfo.processInfo.environment["ACCESS_TOKEN_PGBOUNCER"]

    private let database: TestDatabase
    private let user = "user"

    init() async throws { database = try await TestDatabase() }

    @Test func `a process with a body inside does not rest, and looks before its next body when it has rested`()
        async throws
    {
        let stores = database.stores()
        let isPresent = { @Sendable () async throws -> Bool in
            try await stores.run(within: 5, at: user) { connection throws(PostgresFailure) in
                try stores.table.isPresent(stores.number.value, by: connection)
            }
        }
        _ = try await stores.update(user) { _ in
            await stores.presence.rest()
            let isSeen = try await isPresent()
            #expect(isSeen)
            return .keep
        }
        try await database.terminate()
        // A look that is younger than a second counts.
        try await Task.sleep(for: .seconds(PostgresPresence.pulse + 0.2))
        _ = try await stores.update(user) { _ in
            let isSeen = try await isPresent()
            #expect(isSeen)
            return .keep
        }
    }

    @Test func `a process of the server that had the lock before is not taken for one that a pooler shares`()
        async throws
    {
        let stores = database.stores(clock: ManualClock())
        let locks = """
            SELECT pid::text FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE locktype = 'advisory' AND application_name = $1
            """
        try await stores.presence.begin { false }
        let backend = try #require(try await database.run(locks, [database.application]).first?.first ?? nil)
        await #expect(throws: PostgresFailure.self) { try await stores.presence.check(backend) { false } }
        try await database.terminate()
        try await stores.presence.check(backend) { false }
        stores.presence.end()
    }

    @Test func `a process takes its lock although another one looks at that moment`() async throws {
        let proxy = try DatabaseProxy.toServer()
        defer { proxy.stop() }
        // By a manual clock, there is no next look.
        let stores = PostgresCredentialStores(
            proxy.connectionString(database.connectionString),
            clock: ManualClock()
        )
        let number = stores.number.parameter
        let other = try await database.connection()
        try await other.run("SELECT pg_advisory_lock_shared($1::text::bigint)", [number])
        let locking = StatementWatch("pg_try_advisory_lock(")
        let attempts = Locked(0)
        proxy.onClient { data in
            guard locking.sees(data),
                attempts.withLock({ count in
                    count += 1
                    return count == 2
                })
            else { return .pass }
            let isOver = DispatchSemaphore(value: 0)
            Task {
                _ = try? await other.run("SELECT pg_advisory_unlock_shared($1::text::bigint)", [number])
                isOver.signal()
            }
            isOver.wait()
            return .pass
        }
        try await stores.presence.begin { false }
        #expect(try await stores.table.isPresent(stores.number.value, by: other))
        stores.presence.end()
    }

    @Test func `a process without a body inside looks no longer`() async throws {
        let clock = ManualClock()
        let presence = database.stores(clock: clock).presence
        try await presence.begin { false }
        await yieldUntil { clock.pendingTimers == 1 }
        presence.end()
        await yieldUntil { clock.pendingTimers == 0 }
    }

    @Test func `those that find no place for the connection have room made once`() async throws {
        let proxy = try DatabaseProxy.toServer()
        defer { proxy.stop() }
        let presence = PostgresCredentialStores(proxy.connectionString(database.connectionString)).presence
        proxy.refuse(true)
        let calls = Locked(0)
        let makeRoom = { @Sendable in
            let isFirst = calls.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { return true }
            // The other one was refused as well, and has tried again.
            await yieldUntil { proxy.refused > 2 }
            proxy.refuse(false)
            return true
        }
        async let first: Void = presence.begin(makeRoom)
        async let second: Void = presence.begin(makeRoom)
        _ = try await (first, second)
        #expect(calls.withLock { $0 } == 1)
        for _ in 1...2 { presence.end() }
    }

    @Test(.enabled(if: pooler != nil, "There is no PgBouncer: .ci/deep postgres starts one"))
    func `a look that a pooler sends over another connection is refused`() async throws {
        let pooler = try #require(Self.pooler)
        let stores = PostgresCredentialStores(pooler, clock: ManualClock())
        try await stores.presence.begin { false }
        let locks = """
            SELECT pid::text FROM pg_locks WHERE locktype = 'advisory' AND granted
            AND (classid::bigint << 32) + objid::bigint = $1::text::bigint
            """
        let backend = try #require(try await database.run(locks, ["\(stores.number.value)"]).first?.first ?? nil)
        // Other clients are inside transactions of theirs, until one has the connection with the lock.
        var others: [PostgresConnection] = []
        while try await others.last?.run("SELECT pg_backend_pid()::text").rows.first?.first != backend {
            try #require(others.count < 15, "the pooler keeps the connection to itself")
            let queue = DispatchQueue(label: "test")
            let other = PostgresConnection(to: PostgresServer(pooler), on: DispatchQueueExecutor(queue: queue))
            try await other.open()
            try await other.run("BEGIN")
            others.append(other)
        }
        // A look that is younger than a second counts.
        try await Task.sleep(for: .seconds(PostgresPresence.pulse + 0.2))
        let error = await #expect(throws: PostgresFailure.self) { try await stores.presence.begin { false } }
        #expect(error?.words.contains("pool_mode=session") == true)
        stores.presence.end()
    }
}
#endif
