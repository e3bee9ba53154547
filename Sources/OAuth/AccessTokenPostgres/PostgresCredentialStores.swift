#if Postgres
public import AccessTokenSynchronization
public import AccessTokenOAuth
public import Foundation

/// Keeps the credentials of many accounts in the rows of a PostgreSQL table, for all machines of a fleet.
///
/// ```swift
/// let stores = PostgresCredentialStores("postgresql://fleet@db.example/tokens?sslmode=verify-full")
/// let store = stores.store(for: "partner-api")
/// ```
///
/// Have one object for a database in a process: its accounts share a small pool of connections. An update takes its
/// account's row by a statement, and writes by another one. Between them runs the body, and no connection and no lock
/// of a row is held. The table, `access_token_credentials`, is made by the first update.
///
/// **Concurrency** One body of an account runs at a time, in all processes and machines; those that wait hold no thread
/// and no connection, and are not served in the order in which they came. No call blocks a thread of the pool for
/// tasks. Take-over, connections and clocks are described by ``AccessTokenPostgres``.
///
/// **Cancellation** A cancelled task that waits throws `CancellationError`, and its body is not run; a statement that
/// runs is waited for. A body that runs is its own task's matter, and is written all the same.
///
/// **Failure** `CredentialStoreError`:
/// - `unreadable`: the record is damaged, or its seal cannot be opened. It is left as it is; ``reset(_:)`` removes it.
/// - `unavailable`: the server cannot be reached, or refused a statement. If the connection broke while the record was
///   being written, it may have been written or not: read it again before you write. An `OAuthLoader` does.
/// - `superseded`: another process has written while the body ran, since the connections of this one were cut. Nothing
///   was written.
public final class PostgresCredentialStores: Sendable {
    /// How many connections are open at once if nothing else is said, beside the one that shows that the process lives.
    public static let usualConnections = 8

    /// Seconds between two attempts at a row of another process, at first and at most.
    private static let pauses = (first: 0.005, longest: 0.25)

    private let server: PostgresServer
    private let table: CredentialTable
    private let seal: CredentialSeal?
    private let waitLimit: TimeInterval
    private let clock: any AccessTokenClock
    private let presence: PostgresPresence
    private let pool: PostgresPool
    private let turns: KeyedMutex<String>
    /// The accounts whose row could not be given up.
    private let leftovers = Locked<Set<String>>([])

    /// Creates stores; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - connection: a connection string of libpq, or a URL; TLS is a matter of its options, such as `sslmode`.
    ///   - connections: how many statements run at once at most; one more connection shows that the process lives.
    ///   - seal: keeps the credentials unreadable for the database and its backups; `nil` writes plaintext.
    ///   - waitLimit: seconds after which an update that waits gives up.
    ///   - clock: the machine's time, and timers.
    public init(
        _ connection: String,
        connections: Int = PostgresCredentialStores.usualConnections,
        seal: CredentialSeal? = nil,
        waitLimit: TimeInterval = 120,
        clock: any AccessTokenClock = SystemClock()
    ) {
        server = PostgresServer(connection)
        self.seal = seal
        self.waitLimit = waitLimit
        self.clock = clock
        let presence = PostgresPresence(on: server, clock: clock)
        self.presence = presence
        table = CredentialTable(holder: presence.number)
        pool = PostgresPool(server, size: connections, clock: clock) { await presence.rest() }
        turns = KeyedMutex(waitLimit: waitLimit, clock: clock, timedOut: CredentialStoreError.busy)
    }

    /// The store of an account, under a name that no other account has; nothing is read or written yet.
    public func store(for account: String) -> any CredentialStore {
        PostgresCredentialStore(stores: self, account: account)
    }

    /// Removes whatever is there, after `CredentialStoreError.isUnreadable`, so that the user can sign in again.
    @concurrent public func reset(_ account: String) async throws {
        try await withRow(of: account) { row in
            let old = StoredRecord(version: row.version, credential: nil)
            try await save(.removing(old), in: account, replacing: row)
        }
    }

    // MARK: One account

    /// Tells loaders which stores are one: those of this object under one name.
    func memoryName(of account: String) -> String { "row \(account), process \(presence.number)" }

    /// Reads the record, on no actor of the caller's; see `CredentialStore`.
    @concurrent func load(_ account: String) async throws -> CredentialRecord? {
        let row = try await run(within: waitLimit, at: account) { [table] connection throws(PostgresFailure) in
            try table.read(account, by: connection)
        }
        return try row.flatMap { try record(in: $0, of: account).record }
    }

    /// Runs `body` while no other update of the account is inside; see `CredentialStore`.
    @concurrent func update(_ account: String, _ body: CredentialUpdate) async throws -> CredentialRecord? {
        try await withRow(of: account) { row in
            let old = try record(in: row, of: account)
            guard let new = StoredRecord.applying(try await body(old.record), to: old) else {
                await leave(account, to: row.former)
                return old.record
            }
            try await save(new, in: account, replacing: row)
            return new.record
        }
    }

    /// Runs `body` with the account's row in the hands of this process; it gives the row up unless it throws.
    private func withRow<Result>(
        of account: String,
        _ body: (CredentialTable.Row) async throws -> Result
    ) async throws -> Result {
        let waited = Stopwatch()
        try await turns.lock(account)
        defer { turns.unlock(account) }
        do {
            try await presence.begin()
        } catch {
            throw storeError(for: error, at: account)
        }
        defer { presence.end() }
        var former: Data?
        do {
            let row = try await enter(account, within: waitLimit - waited.seconds)
            former = row.former
            return try await body(row)
        } catch {
            // Also if nobody knows whether the row was taken.
            await leave(account, to: former)
            throw error
        }
    }

    private func enter(_ account: String, within limit: TimeInterval) async throws -> CredentialTable.Row {
        let waited = Stopwatch()
        var pause = Self.pauses.first
        while true {
            try Task.checkCancellation()
            let row = try await run(within: limit, at: account) { [table] connection throws(PostgresFailure) in
                try table.enter(account, by: connection)
            }
            if let row { return row }
            let left = limit - waited.seconds
            guard left > 0 else { throw CredentialStoreError.busy }
            // Those who wait are not to try all at the same moment.
            try await clock.pause(for: min(left, pause * .random(in: 0.5...1)))
            pause = min(Self.pauses.longest, pause * 2)
        }
    }

    private func save(
        _ new: StoredRecord,
        in account: String,
        replacing old: CredentialTable.Row
    ) async throws {
        let data = try new.credential.map { credential in
            let dates = -clock.now.timeIntervalSinceReferenceDate
            let record = StoredRecord(version: new.version, credential: credential.moved(by: dates))
            return try coder(of: account).data(of: record)
        }
        let isWritten: Bool
        do {
            // Neither a cancellation nor a crowd keeps it from being written.
            isWritten = try await pool.run { [table] connection throws(PostgresFailure) in
                try table.write(data, version: new.version, in: account, replacing: old.version, by: connection)
            }
        } catch let failure as PostgresFailure where failure.isConnectionLost {
            let words = "no connection lasted, and the record was written or not: \(failure.words)"
            throw CredentialStoreError.unavailable(at: place(of: account), words, needsRepair: failure.needsRepair)
        } catch let failure as PostgresFailure {
            throw storeError(for: failure, at: account)
        }
        guard isWritten else { throw CredentialStoreError.superseded }
    }

    // MARK: Giving a row up

    /// Lets the next one in; what fails is tried again until it succeeds, or this process has ended.
    private func leave(_ account: String, to former: Data?) async {
        do {
            try await leaveOnce(account, to: former)
        } catch {
            let isFirst = leftovers.withLock { leftovers in
                leftovers.insert(account)
                return leftovers.count == 1
            }
            if isFirst { startClearing() }
        }
    }

    private func leaveOnce(_ account: String, to former: Data?) async throws {
        try await pool.run { [table] connection throws(PostgresFailure) in
            try table.leave(account, to: former, by: connection)
        }
    }

    private func startClearing() {
        Task { [clock, weak self] in
            while (try? await clock.pause(for: PostgresPresence.pulse)) != nil {
                guard let self, await clearLeftovers() else { return }
            }
        }
    }

    /// Takes each row again, in its account's turn, and gives it up; says whether there are some left.
    private func clearLeftovers() async -> Bool {
        for account in leftovers.withLock({ $0 }) {
            guard (try? await withRow(of: account, { try await leaveOnce(account, to: $0.former) })) != nil else {
                continue
            }
            leftovers.withLock { _ = $0.remove(account) }
        }
        return !leftovers.withLock { $0.isEmpty }
    }

    // MARK: Rows and errors

    private func run<Result: Sendable>(
        within limit: TimeInterval,
        at account: String,
        _ statements: @Sendable (isolated PostgresConnection) throws(PostgresFailure) -> Result
    ) async throws -> Result {
        do {
            return try await pool.run(within: limit, statements)
        } catch let failure as PostgresFailure {
            throw storeError(for: failure, at: account)
        }
    }

    private func record(in row: CredentialTable.Row, of account: String) throws -> StoredRecord {
        let credential = try row.record.flatMap { try coder(of: account).record(from: $0).credential }
        let written = clock.now.timeIntervalSinceReferenceDate - row.age
        return StoredRecord(version: row.version, credential: credential?.moved(by: written))
    }

    private func coder(of account: String) -> StoredRecordCoder {
        StoredRecordCoder(place: place(of: account), seal: seal)
    }

    func place(of account: String) -> String { "\(server.name), credential \(account)" }

    private func storeError(for failure: PostgresFailure, at account: String) -> CredentialStoreError {
        if failure.isLockTimeout { return .busy }
        return .unavailable(at: place(of: account), failure.words, needsRepair: failure.needsRepair)
    }
}

extension PostgresCredentialStores: CustomStringConvertible, CustomReflectable {
    /// Where the credentials are; never a secret.
    public var description: String { "PostgresCredentialStores(\(server.name))" }

    /// A mirror without connection string, seal and credentials: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["place": server.name], displayStyle: .class) }
}
#endif
