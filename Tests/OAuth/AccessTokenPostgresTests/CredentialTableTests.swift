#if Postgres
import AccessTokenAsync
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import AccessTokenPostgres

/// Each rule of the statements by itself, at a real server.
@Suite("The statements of the store in PostgreSQL", .takesTurns, .needsPostgres, .endsHangs)
struct CredentialTableTests {
    private let database: TestDatabase
    private let connection: PostgresConnection
    private let table = CredentialTable()
    private let account = "user"
    /// Numbers of processes: each has twenty bits for its entries.
    private let own: Int64 = 1 << 20
    private let other: Int64 = 2 << 20

    init() async throws {
        database = try await TestDatabase()
        connection = try await database.connection()
    }

    private func entry(_ process: Int64, _ number: Int64) -> Departures.Entry {
        Departures.Entry(account: account, number: Data("\(process | number)".utf8))
    }

    private func enter(_ process: Int64, _ number: Int64 = 1) async throws -> CredentialTable.Row? {
        try await table.enter(entry(process, number), by: connection)
    }

    private func holder() async throws -> Int64? {
        let rows = try await database.run("SELECT holder::text FROM access_token_credentials")
        return (rows.first?.first ?? nil).flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
    }

    /// A connection that shows that a process lives.
    private func show(_ process: Int64) async throws -> PostgresConnection {
        let connection = try await database.connection()
        try await connection.run("SELECT pg_advisory_lock($1::text::bigint)", [Data("\(process)".utf8)])
        return connection
    }

    @Test func `a row is entered unless its holder is seen to live`() async throws {
        #expect(try await enter(other) != nil)
        let lock = try await show(other)
        #expect(try await table.isPresent(other, by: connection))
        #expect(try await enter(own) == nil)
        #expect(try await holder() == other | 1)
        await lock.close()
        while try await table.isPresent(other, by: connection) { await Task.yield() }
        #expect(try await enter(own) != nil)
        #expect(try await holder() == own | 1)
    }

    @Test func `an entry of the same process enters, unless it is older than the one inside`() async throws {
        #expect(try await enter(own, 2) != nil)
        #expect(try await enter(own, 1) == nil)
        #expect(try await holder() == own | 2)
        #expect(try await enter(own, 2) != nil, "it is attempted again when the connection broke")
        #expect(try await enter(own, 3) != nil)
        #expect(try await holder() == own | 3)
    }

    @Test func `a row that a transaction keeps locked is as one that another process has`() async throws {
        _ = try await enter(own)
        let transaction = try await database.connection()
        try await transaction.run("BEGIN")
        try await transaction.run("SELECT 1 FROM access_token_credentials FOR UPDATE")
        try await connection.run("SET lock_timeout = 1")
        #expect(try await enter(own, 2) == nil)
        try await transaction.run("ROLLBACK")
        #expect(try await enter(own, 2) != nil)
    }

    @Test func `whoever makes the table waits for the others as long as they need`() async throws {
        let first = try await database.connection()
        try await first.run("BEGIN")
        try await first.run("SELECT pg_advisory_xact_lock(hashtext('access_token_credentials'))")
        let executor = DispatchQueueExecutor(queue: DispatchQueue(label: "test"))
        let second = PostgresConnection(to: PostgresServer(database.connectionString), on: executor)
        try await second.open()
        try await second.run("SET lock_timeout = 1")
        async let row = table.enter(entry(own, 1), by: second)
        try await database.waitForWaiters(1)
        try await first.run("COMMIT")
        #expect(try await row != nil)
    }

    @Test func `a statement that the server has forgotten is a pooler's doing`() async throws {
        let statement = "SELECT $1::text"
        try await connection.run(statement, [Data()])
        try await connection.run("DEALLOCATE ALL")
        let error = await #expect(throws: PostgresFailure.self) { try await connection.run(statement, [Data()]) }
        #expect(error?.words.contains("pool_mode=session") == true)
    }

    @Test func `an entry leaves its own row only`() async throws {
        _ = try await enter(own, 2)
        try await table.leave(entry(own, 1), by: connection)
        #expect(try await holder() == own | 2)
        try await table.leave(entry(own, 2), by: connection)
        #expect(try await holder() == nil)
    }

    @Test func `a write names the version that was read, and leaves its own row only`() async throws {
        let first = try #require(try await enter(own)).version
        func write(_ record: String, over version: Int, by process: Int64, stays: Bool = false) async throws -> Bool {
            try await table.write(
                Data(record.utf8),
                version + 1,
                by: entry(process, 1),
                replacing: version,
                stays: stays,
                by: connection
            )
        }
        #expect(try await !write("late", over: first - 1, by: own))
        #expect(try await holder() == own | 1)
        #expect(try await write("a", over: first, by: other), "its exclusion was lost, and nobody has written")
        #expect(try await holder() == own | 1)
        #expect(try await write("note", over: first + 1, by: own, stays: true))
        #expect(try await holder() == own | 1)
        #expect(try await write("b", over: first + 2, by: own))
        #expect(try await holder() == nil)
        #expect(try await table.read(account, by: connection)?.record == Data("b".utf8))
    }

    @Test func `a write that is done already succeeds, and another record of the same version is none`() async throws {
        let first = try #require(try await enter(own)).version
        for (record, isOwn) in [("a", true), ("a", true), ("b", false)] {
            let isWritten = try await table.write(
                Data(record.utf8),
                first + 1,
                by: entry(own, 1),
                replacing: first,
                by: connection
            )
            #expect(isWritten == isOwn)
        }
    }

    /// Others may have accounts of that name: a channel is the whole database's.
    @Test func `a removal is told, also if its writer hears and says nothing more`() async throws {
        let proxy = try DatabaseProxy.toServer()
        defer { proxy.stop() }
        let entry = Departures.Entry(account: database.application, number: Data("\(own | 1)".utf8))
        let version = try #require(try await table.enter(entry, by: connection)).version
        try await table.listen(by: connection)
        let executor = DispatchQueueExecutor(queue: DispatchQueue(label: "test"))
        let server = PostgresServer(proxy.connectionString(database.connectionString))
        let writer = PostgresConnection(to: server, on: executor)
        try await writer.open()
        let removing = StatementWatch("SET version = $3")
        let isRemoved = Locked(false)
        proxy.onClient { data in
            if removing.sees(data) { isRemoved.withLock { $0 = true } }
            return .pass
        }
        proxy.onDatabase { _ in isRemoved.withLock { $0 } ? .cut : .pass }
        await #expect(throws: PostgresFailure.self) {
            try await table.write(nil, version + 1, by: entry, replacing: version, by: writer)
        }
        #expect(try await table.read(entry.account, by: connection)?.version == version + 1)
        let end = ContinuousClock.now + .seconds(20)
        while await !connection.takeNotifications().contains(entry.account) {
            try #require(ContinuousClock.now < end, "nobody was told")
            try await connection.run("SELECT 1")
        }
    }

    @Test func `a clock of the database that was set back makes no record younger than it is`() async throws {
        _ = try await enter(own)
        try await database.run("UPDATE access_token_credentials SET written = written + interval '1 day'")
        #expect(try await table.read(account, by: connection)?.age == 0)
    }

    @Test func `a row without a record is not listed, nor is the last one of the page before`() async throws {
        let first = try #require(try await enter(own)).version
        #expect(try await table.list(after: nil, limit: 9, by: connection).isEmpty)
        _ = try await table.write(Data(), first + 1, by: entry(own, 1), replacing: first, by: connection)
        #expect(try await table.list(after: nil, limit: 9, by: connection).map(\.account) == [account])
        #expect(try await table.list(after: account, limit: 9, by: connection).isEmpty)
    }

    @Test func `a commit is one that lasts, whatever the database is set to`() async throws {
        let executor = DispatchQueueExecutor(queue: DispatchQueue(label: "test"))
        let string = "\(database.connectionString) options='-c synchronous_commit=off'"
        let connection = PostgresConnection(to: PostgresServer(string), on: executor)
        try await connection.open()
        #expect(try await connection.run("SHOW synchronous_commit").rows == [[Data("on".utf8)]])
    }
}
#endif
