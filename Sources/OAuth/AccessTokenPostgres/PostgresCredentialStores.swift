#if Postgres
import AccessTokenCore
public import AccessTokenOAuth
public import AccessTokenSynchronization
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
/// **Concurrency** One body of an account runs at a time, in all processes and machines whose connections last; of two
/// bodies after a cut, one writes. Those that wait hold no thread and no connection, and are not served in the order
/// in which they came. No call blocks a thread of the pool for
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
    /// A process that is cut off, and looks for its connection each second, needs as long.
    private static let leastTakeOverDelay: TimeInterval = 3

    /// Seconds between two attempts at a row of another process, at first and at most.
    private static let pauses = (first: 0.005, longest: 0.25)

    let takeOverDelay: TimeInterval
    private let server: PostgresServer
    let table = CredentialTable()
    private let seal: CredentialSeal?
    let waitLimit: TimeInterval
    let clock: any AccessTokenClock
    let number = ProcessNumber()
    let presence: PostgresPresence
    let pool: PostgresPool
    private let turns: KeyedMutex<ExactString>
    private let departures: Departures
    private let entries = Locked(0)

    /// Creates stores; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - connection: a connection string of libpq, or a URL; TLS is a matter of its options, such as `sslmode`.
    ///   - connections: how many statements run at once at most; one more connection shows that the process lives.
    ///   - seal: keeps the credentials unreadable for the database and its backups; `nil` writes plaintext.
    ///   - waitLimit: seconds after which an update that waits gives up.
    ///   - takeOverDelay: seconds without a sign of a process, after which others send the refresh token again that
    ///     this one was going to send. It has to be longer than the way back to the database takes, with a fail-over; a
    ///     user whose process has died waits for as long. 3 is the least.
    ///   - clock: the machine's time, and timers.
    public init(
        _ connection: String,
        connections: Int = 8,
        seal: CredentialSeal? = nil,
        waitLimit: TimeInterval = 120,
        takeOverDelay: TimeInterval = 15,
        clock: any AccessTokenClock = SystemClock()
    ) {
        server = PostgresServer(connection)
        self.seal = seal
        self.waitLimit = waitLimit
        self.takeOverDelay = takeOverDelay.isNaN ? .infinity : max(Self.leastTakeOverDelay, takeOverDelay)
        self.clock = clock
        let presence = PostgresPresence(number, in: table, on: server, clock: clock)
        self.presence = presence
        let pool = PostgresPool(server, size: connections, clock: clock) { await presence.rest() }
        self.pool = pool
        turns = KeyedMutex(waitLimit: waitLimit, clock: clock, timedOut: CredentialStoreError.busy)
        departures = Departures(clock: clock) { [table] entry in
            try await pool.run { connection throws(PostgresFailure) in try table.leave(entry, by: connection) }
        }
    }

    /// The store of an account, under a name that no other account has; nothing is read or written yet.
    ///
    /// Names are told apart by their bytes: "é" as one Unicode scalar and as two are two names.
    public func store(for account: String) -> any CredentialStore {
        PostgresCredentialStore(stores: self, account: account)
    }

    /// Removes whatever is there, after `CredentialStoreError.isUnreadable`, so that the user can sign in again.
    ///
    /// An update that is inside is waited for, in whichever process it is.
    ///
    /// **Cancellation** As of an update: a cancelled task that waits throws `CancellationError`, and removes nothing.
    ///
    /// **Failure** `CredentialStoreError`: `busy` after the wait limit; `superseded`; `unavailable`, and then the record
    /// may have been removed or not. Reset it again.
    @concurrent public func reset(_ account: String) async throws { try await reset(account, evenIfReadable: true) }

    @concurrent func reset(_ account: String, evenIfReadable: Bool) async throws {
        try await withRow(of: account) { row, entry in
            // Whoever was inside before may have begun a session.
            if !evenIfReadable, (try? record(in: row, of: account)) != nil { return ((), isLeft: false) }
            let old = StoredRecord(version: row.version, credential: nil)
            try await save(.removing(old), by: entry, replacing: row.version)
            return ((), isLeft: true)
        }
    }

    // MARK: One account

    /// Tells loaders which stores are one: those of this object under one name.
    func memoryName(of account: String) -> String { "row \(account), process \(number.value)" }

    /// Reads the record, on no actor of the caller's; see `CredentialStore`.
    @concurrent func load(_ account: String) async throws -> CredentialRecord? {
        let row = try await run(within: waitLimit, at: account) { [table] connection throws(PostgresFailure) in
            try table.read(account, by: connection)
        }
        return try row.flatMap { try record(in: $0, of: account).record }
    }

    /// Runs `body` while no other update of the account is inside; see `CredentialStore`.
    ///
    /// A body that writes the note that it is going to send stays inside: it is called again, with the note in the
    /// record.
    @concurrent func update(_ account: String, _ body: CredentialUpdate) async throws -> CredentialRecord? {
        try await withRow(of: account) { row, entry in
            var old = try await seeing(try record(in: row, of: account), of: account)
            while let new = StoredRecord.applying(try await body(old.record), to: old) {
                let (signed, note) = signed(new, over: old)
                do {
                    try await save(signed, by: entry, replacing: old.version, stays: note != nil)
                } catch {
                    if let note { withdraw(note, of: account) }
                    throw error
                }
                guard note != nil else { return (new.record, isLeft: true) }
                old = signed
            }
            return (old.record, isLeft: false)
        }
    }

    /// Runs `body` with the account's row in the hands of this process; `isLeft` says that it has given the row up.
    private func withRow<Result>(
        of account: String,
        _ body: (CredentialTable.Row, Departures.Entry) async throws -> (Result, isLeft: Bool)
    ) async throws -> Result {
        let waited = Stopwatch()
        let name = ExactString(account)
        try await turns.lock(name)
        defer { turns.unlock(name) }
        do {
            try await presence.begin { [pool] in await pool.makeRoom() }
        } catch {
            throw storeError(for: error, at: account)
        }
        defer { presence.end() }
        let number = entries.withLock { entries in
            entries += 1
            return self.number.entry(entries)
        }
        let entry = Departures.Entry(account: account, number: number)
        let losses = pool.losses
        var lossesOfEntering: Int?
        do {
            let row = try await enter(entry, within: waitLimit - waited.seconds)
            lossesOfEntering = pool.losses - losses
            try await checkPooler(row, at: account)
            let (result, isLeft) = try await body(row, entry)
            await departures.add(entry, isLeft: isLeft, isCertain: lossesOfEntering == 0)
            return result
        } catch {
            await departures.add(entry, isLeft: false, isCertain: (lossesOfEntering ?? pool.losses - losses) == 0)
            throw error
        }
    }

    private func checkPooler(_ row: CredentialTable.Row, at account: String) async throws {
        do {
            try await presence.check(row.backend) { [pool] in await pool.makeRoom() }
        } catch {
            throw storeError(for: error, at: account)
        }
    }

    private func enter(_ entry: Departures.Entry, within limit: TimeInterval) async throws -> CredentialTable.Row {
        let waited = Stopwatch()
        var pause = Self.pauses.first
        while true {
            let row = try await run(within: limit, at: entry.account) {
                [table] connection throws(PostgresFailure) in
                try table.enter(entry, by: connection)
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
        by entry: Departures.Entry,
        replacing old: Int,
        stays: Bool = false
    ) async throws {
        let account = entry.account
        let data = try new.credential.map { credential in
            let dates = -clock.now.timeIntervalSinceReferenceDate
            let record = StoredRecord(version: new.version, credential: credential.moved(by: dates))
            return try coder(of: account).data(of: record)
        }
        let isWritten: Bool
        do {
            // Neither a cancellation nor a crowd keeps it from being written.
            isWritten = try await pool.run { [table] connection throws(PostgresFailure) in
                try table.write(data, new.version, by: entry, replacing: old, stays: stays, by: connection)
            }
        } catch let failure as PostgresFailure {
            // Never busy, which would say that nothing was sent.
            let words = failure.isConnectionLost ? "no connection lasted, and the record was written or not: " : ""
            throw CredentialStoreError.unavailable(
                at: place(of: account),
                words + failure.words,
                needsRepair: failure.needsRepair
            )
        }
        guard isWritten else { throw CredentialStoreError.superseded }
    }

    // MARK: Rows and errors

    func run<Result: Sendable>(
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

    func list(after name: String?, limit: Int) async throws -> [CredentialTable.Listed] {
        try await run(within: waitLimit, at: "list") { [table] connection throws(PostgresFailure) in
            try table.list(after: name, limit: limit, by: connection)
        }
    }

    func record(in row: CredentialTable.Row, of account: String) throws -> StoredRecord {
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
