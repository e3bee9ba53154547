#if Postgres
import Foundation

/// A credential's row in the table, by statements.
///
/// The row stays when the credential is removed: its version goes on. `written` is by the clock of the database;
/// the record's dates are seconds since then.
struct CredentialTable: Sendable {
    /// A row as it was read.
    struct Row: Sendable {
        let version: Int
        /// `nil`: no user is signed in.
        let record: Data?
        /// Seconds since it was written, by the clock of the database.
        let age: TimeInterval
    }

    private static let creation = """
        CREATE TABLE IF NOT EXISTS access_token_credentials (
            name text PRIMARY KEY,
            version bigint NOT NULL,
            record bytea,
            written timestamptz NOT NULL
        )
        """
    /// Two that create a table at once collide, also with IF NOT EXISTS.
    private static let creationLock = "SELECT pg_advisory_xact_lock(hashtext('access_token_credentials'))"
    /// The first version is the time in seconds: if the row is deleted by hand, its successor's are newer.
    private static let insertion = """
        INSERT INTO access_token_credentials (name, version, written)
        VALUES ($1, extract(epoch FROM clock_timestamp())::bigint, clock_timestamp()) ON CONFLICT DO NOTHING
        """
    private static let columns = "version::text, record, extract(epoch FROM clock_timestamp() - written)::text"
    private static let reading = "SELECT \(columns) FROM access_token_credentials WHERE name = $1"
    /// The age is computed outside of the inner query: there it would be that of before the wait.
    private static let locking = """
        WITH held AS (
            SELECT version, record, written FROM access_token_credentials WHERE name = $1 FOR UPDATE
        )
        SELECT \(columns) FROM held
        """
    private static let writing = """
        UPDATE access_token_credentials
        SET version = $2::text::bigint, record = $3, written = clock_timestamp()
        WHERE name = $1 AND version = $4::text::bigint
        """
    /// A database may be set to acknowledge commits that can be lost, which a credential must not be.
    private static let settings = """
        SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
            set_config('idle_in_transaction_session_timeout', $3, true),
            set_config('synchronous_commit', CASE current_setting('synchronous_commit')
                WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)
        """

    /// SQLSTATE of a table that does not exist.
    private static let undefinedTable = "42P01"
    /// Seconds for a statement, beside the wait for a lock.
    private static let statementLimit: TimeInterval = 10

    let name: String

    private var key: Data { Data(name.utf8) }

    /// The row as it is, without a wait for its holder; `nil` if there is no row, or no table.
    func read(by connection: isolated PostgresConnection) throws(PostgresFailure) -> Row? {
        do {
            try begin(waitLimit: Self.statementLimit, holdLimit: Self.statementLimit, by: connection)
            return row(try connection.run(Self.reading, [key]))
        } catch {
            guard error.code == Self.undefinedTable else { throw error }
            return nil
        }
    }

    /// Begins a transaction and locks the row, which is made if there is none, and the table with it.
    ///
    /// - Parameters:
    ///   - waitLimit: seconds after which the server ends the wait.
    ///   - holdLimit: seconds after which the server ends the transaction: a stuck process does not lock others out for good.
    func lock(
        waitLimit: TimeInterval,
        holdLimit: TimeInterval,
        by connection: isolated PostgresConnection
    ) throws(PostgresFailure) -> Row {
        for _ in 1...3 {
            var lacksTable = false
            try begin(waitLimit: waitLimit, holdLimit: holdLimit, by: connection)
            do {
                if let row = row(try connection.run(Self.locking, [key])) { return row }
            } catch {
                guard error.code == Self.undefinedTable else { throw error }
                lacksTable = true
            }
            try connection.run("ROLLBACK")
            try begin(waitLimit: waitLimit, holdLimit: holdLimit, by: connection)
            if lacksTable {
                try connection.run(Self.creationLock)
                try connection.run(Self.creation)
            }
            try connection.run(Self.insertion, [key])
            try connection.run("COMMIT")
        }
        throw PostgresFailure(words: "the row is removed as soon as it is made")
    }

    /// Writes a row in the place of a locked one; says whether that one was still there.
    func write(
        _ record: Data?,
        version: Int,
        replacing old: Int,
        by connection: isolated PostgresConnection
    ) throws(PostgresFailure) -> Bool {
        let reply = try connection.run(Self.writing, [key, Data("\(version)".utf8), record, Data("\(old)".utf8)])
        return reply.command == "UPDATE 1"
    }

    /// Commits; what was written is durable when this returns.
    func commit(by connection: isolated PostgresConnection) throws(PostgresFailure) {
        // A transaction that has failed answers ROLLBACK, without an error.
        guard try connection.run("COMMIT").command == "COMMIT" else {
            throw PostgresFailure(words: "the server rolled the transaction back")
        }
    }

    private func begin(
        waitLimit: TimeInterval,
        holdLimit: TimeInterval,
        by connection: isolated PostgresConnection
    ) throws(PostgresFailure) {
        try connection.run("BEGIN ISOLATION LEVEL READ COMMITTED")
        let limits = [waitLimit, waitLimit + Self.statementLimit, holdLimit]
        // Zero would mean no limit.
        let texts = limits.map { "\(Int(max(1, min($0 * 1_000, 2_000_000_000))))" }
        try connection.run(Self.settings, texts.map { Data($0.utf8) })
    }

    private func row(_ reply: PostgresReply) -> Row? {
        guard let columns = reply.rows.first, columns.count == 3,
            let version = columns[0].flatMap({ Int(String(decoding: $0, as: UTF8.self)) }),
            let age = columns[2].flatMap({ TimeInterval(String(decoding: $0, as: UTF8.self)) })
        else { return nil }
        // A clock that was set back must not prolong a life.
        return Row(version: version, record: columns[1], age: max(0, age))
    }
}
#endif
