#if Postgres
import AccessTokenAdapters
public import AccessTokenCore
public import AccessTokenOAuth
import Dispatch
public import Foundation

/// Keeps a credential in a row of a PostgreSQL database, for all machines of a fleet.
///
/// ```swift
/// let store = PostgresCredentialStore("postgresql://fleet@db.example/tokens?sslmode=verify-full", name: "partner-api")
/// ```
///
/// The body of an update runs while its transaction holds the row. A process that dies inside is rolled back by the server,
/// which lets the next one in. The table, `access_token_credentials`, is made by the first update.
///
/// **Concurrency** One body runs at a time, in all processes and machines; those that wait are not served in the order in
/// which they came. No call blocks a thread of the pool. Have one store for a credential in a process. Take-over, connections
/// and clocks are described by ``AccessTokenPostgres``.
///
/// **Cancellation** A cancelled task that waits throws `CancellationError`, and its body is not run; a connection that is
/// being opened is waited for. A body that runs is its own task's matter, and is written all the same.
///
/// **Failure** `CredentialStoreError`:
/// - `unreadable`: the record is damaged, or its seal cannot be opened. It is left as it is; ``reset()`` removes it.
/// - `unavailable`: the server cannot be reached, or refused a statement. If the connection broke during the commit, the
///   record may have been written or not: read it again before you write. An `OAuthLoader` does.
/// - `superseded`: the server ended the transaction while the body ran, and the body could not take the row again. Nothing was
///   written.
public final class PostgresCredentialStore: CredentialStore {
    /// 5 seconds: who lives and loses the row takes it again within one or two; see `CredentialStore`.
    public let takeOverDelay: TimeInterval = 5

    /// Seconds between two signs of life to the server.
    private static let pulse: TimeInterval = 1

    private let server: PostgresServer
    private let table: CredentialTable
    private let place: String
    private let coder: StoredRecordCoder
    private let waitLimit: TimeInterval
    private let holdLimit: TimeInterval
    private let clock: any AccessTokenClock
    private let updates: ConnectionTurn
    private let loads: ConnectionTurn

    /// Creates a store; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - connection: a connection string of libpq, or a URL; TLS is a matter of its options, such as `sslmode`.
    ///   - name: the row's; a name for each credential.
    ///   - seal: keeps the credential unreadable for the database and its backups; `nil` writes plaintext.
    ///   - waitLimit: seconds after which an update that waits gives up.
    ///   - holdLimit: seconds without a sign of life after which the server ends a body's transaction. A body gives one each
    ///     second, and no more after this time.
    ///   - clock: the machine's time, and timers.
    public init(
        _ connection: String,
        name: String,
        seal: CredentialSeal? = nil,
        waitLimit: TimeInterval = 120,
        holdLimit: TimeInterval = 120,
        clock: any AccessTokenClock = SystemClock()
    ) {
        server = PostgresServer(connection)
        table = CredentialTable(name: name)
        place = "\(server.name), credential \(name)"
        coder = StoredRecordCoder(place: place, seal: seal)
        self.waitLimit = waitLimit
        self.holdLimit = holdLimit
        self.clock = clock
        updates = ConnectionTurn("updates", waitLimit: waitLimit, clock: clock)
        loads = ConnectionTurn("loads", waitLimit: waitLimit, clock: clock)
    }

    /// Reads the record, on no actor of the caller's; see `CredentialStore`.
    @concurrent public func load() async throws -> CredentialRecord? {
        try await loads.mutex.lock()
        defer { loads.mutex.unlock() }
        let connection = PostgresConnection(to: server, on: loads.executor)
        do {
            let row = try await read(by: connection)
            return try row.flatMap { try record(in: $0).record }
        } catch let failure as PostgresFailure {
            throw storeError(for: failure)
        }
    }

    /// Runs `body` while no other update is inside, on no actor of the caller's; see `CredentialStore`.
    @discardableResult
    @concurrent public func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        try await withRow { connection, row in
            let old = try record(in: row)
            guard let new = StoredRecord.applying(try await body(old.record), to: old) else { return old.record }
            try await save(new, replacing: row, by: connection)
            return new.record
        }
    }

    /// Removes whatever is there, after `CredentialStoreError.isUnreadable`, so that the user can sign in again.
    @concurrent public func reset() async throws {
        try await withRow { connection, row in
            try await save(StoredRecord(version: row.version, credential: nil), replacing: row, by: connection)
        }
    }

    /// Holds the row while `body` runs.
    private func withRow<Result>(
        _ body: (PostgresConnection, CredentialTable.Row) async throws -> Result
    ) async throws -> Result {
        let waited = Stopwatch()
        try await updates.mutex.lock()
        defer { updates.mutex.unlock() }
        let connection = PostgresConnection(to: server, on: updates.executor)
        let row = try await withTaskCancellationHandler {
            try await lock(by: connection, within: waitLimit - waited.seconds)
        } onCancel: {
            connection.wait.cancel()
        }
        let keeping = Task { await keepRow(of: connection) }
        do {
            let result = try await body(connection, row)
            keeping.cancel()
            await end(connection)
            return result
        } catch {
            keeping.cancel()
            await end(connection)
            throw error
        }
    }

    /// Tells the server once in a while that the body lives, and takes the row again if the connection was cut.
    ///
    /// It ends when the body does, or after `holdLimit`: a body that never ends does not keep others out for good.
    private func keepRow(of connection: PostgresConnection) async {
        for _ in 0..<Int(min(holdLimit / Self.pulse, 1_000_000)) {
            guard (try? await clock.pause(for: Self.pulse)) != nil else { return }
            await keepOnce(by: connection)
        }
    }
}

// MARK: - On the connection's queue

extension PostgresCredentialStore {
    private func read(by connection: isolated PostgresConnection) throws(PostgresFailure) -> CredentialTable.Row? {
        try connection.open()
        return try table.read(by: connection)
    }

    private func lock(
        by connection: isolated PostgresConnection,
        within limit: TimeInterval
    ) throws -> CredentialTable.Row {
        let result: Result<CredentialTable.Row, PostgresFailure>
        do throws(PostgresFailure) {
            try connection.open()
            result = .success(try table.lock(waitLimit: max(0, limit), holdLimit: holdLimit, by: connection))
        } catch {
            result = .failure(error)
        }
        if connection.wait.ends() { throw CancellationError() }
        return try result.mapError { storeError(for: $0) }.get()
    }

    private func keepOnce(by connection: isolated PostgresConnection) {
        // The body may have ended meanwhile.
        guard !Task.isCancelled else { return }
        do throws(PostgresFailure) {
            try connection.run("SELECT 1")
        } catch {
            guard error.isConnectionLost else { return }
            // Another process may have written: the update, which names the version, then finds no row.
            guard (try? connection.open()) != nil else { return }
            _ = try? table.lock(waitLimit: waitLimit, holdLimit: holdLimit, by: connection)
        }
    }

    /// Writes and commits; only an answer to the commit says that it is done.
    private func save(
        _ new: StoredRecord,
        replacing old: CredentialTable.Row,
        by connection: isolated PostgresConnection
    ) throws {
        let data = try new.credential.map { credential in
            let dates = -clock.now.timeIntervalSinceReferenceDate
            return try coder.data(of: StoredRecord(version: new.version, credential: credential.moved(by: dates)))
        }
        let isWritten: Bool
        do throws(PostgresFailure) {
            isWritten = try table.write(data, version: new.version, replacing: old.version, by: connection)
        } catch {
            throw error.isConnectionLost ? .superseded : storeError(for: error)
        }
        guard isWritten else { throw CredentialStoreError.superseded }
        do throws(PostgresFailure) {
            try table.commit(by: connection)
        } catch {
            guard error.isConnectionLost else { throw storeError(for: error) }
            let words = "the connection broke during the commit, and the record was written or not: \(error.words)"
            throw CredentialStoreError.unavailable(at: place, words)
        }
    }

    /// Ends what is left of a transaction, before anybody is told that it is over.
    private func end(_ connection: isolated PostgresConnection) {
        // Without a connection, the server has rolled back already.
        _ = try? connection.run("ROLLBACK")
    }
}

// MARK: - Rows and errors

extension PostgresCredentialStore {
    private func record(in row: CredentialTable.Row) throws -> StoredRecord {
        let credential = try row.record.flatMap { try coder.record(from: $0).credential }
        let written = clock.now.timeIntervalSinceReferenceDate - row.age
        return StoredRecord(version: row.version, credential: credential?.moved(by: written))
    }

    private func storeError(for failure: PostgresFailure) -> CredentialStoreError {
        failure.isLockTimeout ? .busy : .unavailable(at: place, failure.words, needsRepair: failure.needsRepair)
    }
}

extension PostgresCredentialStore: CustomStringConvertible, CustomReflectable {
    /// Where the credential is; never a secret.
    public var description: String { "PostgresCredentialStore(\(place))" }

    /// A mirror without connection string, seal and credential: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["place": place], displayStyle: .class) }
}

/// Those of one kind that want a connection: one has it at a time, on one queue.
private struct ConnectionTurn: Sendable {
    let mutex: AsyncMutex
    let executor: DispatchQueueExecutor

    init(_ name: String, waitLimit: TimeInterval, clock: any AccessTokenClock) {
        mutex = AsyncMutex(waitLimit: waitLimit, clock: clock)
        executor = DispatchQueueExecutor(queue: DispatchQueue(label: "PostgresCredentialStore \(name)"))
    }
}
#endif
