#if Postgres
import Foundation

/// The credentials' rows in the table, by statements of which each is a transaction of its own.
///
/// A row stays when the credential is removed: its version goes on. `written` is by the clock of the database;
/// the record's dates are seconds since then. `holder` is the entry of the process whose body is inside.
struct CredentialTable: Sendable {
    /// A row as it was read.
    struct Row: Sendable {
        let version: Int
        /// `nil`: no user is signed in.
        let record: Data?
        /// Seconds since it was written, by the clock of the database.
        let age: TimeInterval
        /// The number of the server's process that carried the statement out.
        var backend: Data?
    }

    /// A row of a listing.
    struct Listed: Sendable {
        let account: String
        let row: Row
    }

    private static let creation = """
        CREATE TABLE IF NOT EXISTS access_token_credentials (
            name text PRIMARY KEY,
            version bigint NOT NULL,
            record bytea,
            written timestamptz NOT NULL,
            holder bigint
        )
        """
    /// Two that create a table at once collide, also with IF NOT EXISTS.
    private static let creationLock = "SELECT pg_advisory_xact_lock(hashtext('access_token_credentials'))"
    private static let columns = "version::text, record, extract(epoch FROM clock_timestamp() - written)::text"
    private static let reading = "SELECT \(columns) FROM access_token_credentials WHERE name = $1"
    /// A holder that is gone has no lock with its number any more.
    ///
    /// A process takes its own row again at any time, but not by a statement that comes late.
    private static let entering = """
        UPDATE access_token_credentials SET holder = $2::text::bigint
        WHERE name = $1 AND CASE WHEN holder IS NULL THEN true
            WHEN holder & \(ProcessNumber.mask) = $2::text::bigint & \(ProcessNumber.mask) THEN holder <= $2::text::bigint
            ELSE pg_try_advisory_xact_lock_shared(holder & \(ProcessNumber.mask)) END
        RETURNING \(columns), pg_backend_pid()::text
        """
    /// The first version is the time in seconds: if the row is deleted by hand, its successor's are newer.
    private static let insertion = """
        INSERT INTO access_token_credentials (name, version, written, holder)
        VALUES ($1, extract(epoch FROM clock_timestamp())::bigint, clock_timestamp(), $2::text::bigint)
        ON CONFLICT DO NOTHING RETURNING \(columns), pg_backend_pid()::text
        """
    private static let leaving = """
        UPDATE access_token_credentials SET holder = NULL WHERE name = $1 AND holder = $2::text::bigint
        """
    private static let presence = "SELECT pg_try_advisory_xact_lock_shared($1::text::bigint)::text"
    private static let listing = """
        SELECT \(columns), name FROM access_token_credentials
        WHERE record IS NOT NULL AND ($1::text IS NULL OR name > $1) ORDER BY name LIMIT $2::text::bigint
        """
    private static let listening = "LISTEN access_token_credentials"
    private static let time = "SELECT extract(epoch FROM clock_timestamp())::text"
    private static let ended = """
        SELECT name FROM access_token_credentials
        WHERE record IS NULL AND written > to_timestamp($1::text::double precision)
        """
    /// A channel is the whole database's: in another schema an account may have the same name.
    ///
    /// Here its session goes on, and its row was not written lately.
    private static let ours = """
        SELECT told FROM jsonb_array_elements_text($1::text::jsonb) AS told WHERE NOT EXISTS (
            SELECT FROM access_token_credentials WHERE name = told AND record IS NOT NULL
                AND written < to_timestamp($2::text::double precision)
        )
        """
    /// No holder is equal to NULL, which an entry gives that stays.
    private static let writing = """
        UPDATE access_token_credentials
        SET version = $3::text::bigint, record = $4, written = clock_timestamp(),
            holder = CASE WHEN holder = $2::text::bigint THEN NULL ELSE holder END
        WHERE name = $1 AND version = $5::text::bigint RETURNING name
        """
    /// Tells on a channel of the database whose session has ended.
    ///
    /// One statement: whoever removes a record may end before it sends another one.
    private static let removing = """
        WITH removed AS (\(writing)) SELECT pg_notify('access_token_credentials', name) FROM removed
        """

    /// The SQLSTATE of a table that does not exist.
    private static let undefinedTable = "42P01"

    /// The row as it is, without a wait for its holder; `nil` if there is no row, or no table.
    func read(_ name: String, by connection: isolated PostgresConnection) throws(PostgresFailure) -> Row? {
        do {
            return row(try connection.run(Self.reading, [Data(name.utf8)]))
        } catch {
            guard error.code == Self.undefinedTable else { throw error }
            return nil
        }
    }

    /// Takes a row, which is made if there is none, and the table with it; `nil` if another process has the row.
    func enter(
        _ entry: Departures.Entry,
        by connection: isolated PostgresConnection
    ) throws(PostgresFailure) -> Row? {
        do {
            return try enterTable(entry, by: connection)
        } catch {
            guard error.code == Self.undefinedTable else { throw error }
            try makeTable(by: connection)
            return try enterTable(entry, by: connection)
        }
    }

    private func enterTable(
        _ entry: Departures.Entry,
        by connection: isolated PostgresConnection
    ) throws(PostgresFailure) -> Row? {
        let values = values(entry)
        do {
            if let row = row(try connection.run(Self.entering, values)) { return row }
            return row(try connection.run(Self.insertion, values))
        } catch {
            // Somebody's transaction has the row: as if another process had it.
            if error.isLockTimeout { return nil }
            throw error
        }
    }

    /// Lets the next one in, unless the row names another entry.
    func leave(_ entry: Departures.Entry, by connection: isolated PostgresConnection) throws(PostgresFailure) {
        try connection.run(Self.leaving, values(entry))
    }

    /// Whether the process with a number is seen to live.
    func isPresent(_ number: Int64, by connection: isolated PostgresConnection) throws(PostgresFailure) -> Bool {
        try connection.run(Self.presence, [Data("\(number)".utf8)]).rows.first?.first != Data("true".utf8)
    }

    /// The rows with a record whose names follow a name, in the order of the database.
    func list(
        after name: String?,
        limit: Int,
        by connection: isolated PostgresConnection
    ) throws(PostgresFailure) -> [Listed] {
        do {
            let reply = try connection.run(Self.listing, [name.map { Data($0.utf8) }, Data("\(limit)".utf8)])
            return reply.rows.compactMap { columns in
                guard let row = row(columns), let name = columns.last ?? nil else { return nil }
                return Listed(account: String(decoding: name, as: UTF8.self), row: row)
            }
        } catch {
            guard error.code == Self.undefinedTable else { throw error }
            return []
        }
    }

    /// Writes a row in the place of one that was read, and lets the next one in unless the entry stays; `false` if
    /// another one is there.
    ///
    /// It may be called again after a connection broke, when the server had written already.
    func write(
        _ record: Data?,
        _ version: Int,
        by entry: Departures.Entry,
        replacing old: Int,
        stays: Bool = false,
        by connection: isolated PostgresConnection
    ) throws(PostgresFailure) -> Bool {
        let name = Data(entry.account.utf8)
        let values = [name, stays ? nil : entry.number, Data("\(version)".utf8), record, Data("\(old)".utf8)]
        if try !connection.run(record == nil ? Self.removing : Self.writing, values).rows.isEmpty { return true }
        let present = try read(entry.account, by: connection)
        return present?.version == version && present?.record == record
    }

    /// From here on, the connection is told whose session ends.
    func listen(by connection: isolated PostgresConnection) throws(PostgresFailure) {
        try connection.run(Self.listening)
    }

    /// What the clock of the database shows, in seconds since 1970.
    func now(by connection: isolated PostgresConnection) throws(PostgresFailure) -> TimeInterval {
        let time = try connection.run(Self.time).rows.first?.first ?? nil
        return time.flatMap { TimeInterval(String(decoding: $0, as: UTF8.self)) } ?? 0
    }

    /// The accounts whose record was removed since a time of the database; it reads the whole table.
    func ended(
        since time: TimeInterval,
        by connection: isolated PostgresConnection
    ) throws(PostgresFailure) -> [String] {
        do {
            let rows = try connection.run(Self.ended, [Data("\(time)".utf8)]).rows
            return rows.compactMap { $0.first ?? nil }.map { String(decoding: $0, as: UTF8.self) }
        } catch {
            guard error.code == Self.undefinedTable else { throw error }
            return []
        }
    }

    /// Leaves out accounts of other tables; whatever is told was written since a time of the database.
    func ours(
        among names: [String],
        since time: TimeInterval,
        by connection: isolated PostgresConnection
    ) throws(PostgresFailure) -> [String] {
        // More at once are all sessions of a fleet, and a look has no time for them.
        guard (1...1000).contains(names.count), let list = try? JSONEncoder().encode(names) else { return names }
        let rows = try connection.run(Self.ours, [list, Data("\(time)".utf8)]).rows
        return rows.compactMap { $0.first ?? nil }.map { String(decoding: $0, as: UTF8.self) }
    }

    private func values(_ entry: Departures.Entry) -> [Data?] { [Data(entry.account.utf8), entry.number] }

    private func makeTable(by connection: isolated PostgresConnection) throws(PostgresFailure) {
        do {
            try connection.run("BEGIN")
            // Until the one that is first has made the table.
            try connection.run("SET LOCAL lock_timeout = 0")
            try connection.run(Self.creationLock)
            try connection.run(Self.creation)
            try connection.run("COMMIT")
        } catch {
            _ = try? connection.run("ROLLBACK")
            throw error
        }
    }

    private func row(_ reply: PostgresReply) -> Row? { reply.rows.first.flatMap { row($0) } }

    private func row(_ columns: [Data?]) -> Row? {
        guard columns.count >= 3,
            let version = columns[0].flatMap({ Int(String(decoding: $0, as: UTF8.self)) }),
            let age = columns[2].flatMap({ TimeInterval(String(decoding: $0, as: UTF8.self)) })
        else { return nil }
        // A clock that was set back must not prolong a life.
        return Row(version: version, record: columns[1], age: max(0, age), backend: columns.dropFirst(3).first ?? nil)
    }
}
#endif
