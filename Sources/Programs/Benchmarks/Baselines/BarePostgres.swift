#if Postgres
import CLibpq
import Foundation

/// The statements that replacing a credential in PostgreSQL needs, each by one call of libpq, on a connection of its own.
struct BarePostgres: Sendable {
    struct Failure: Error { let statement: String }

    static let name = "benchmarks"
    let connection: String

    func replace() throws {
        let row = "WHERE name = '\(Self.name)'"
        let record = try JSONEncoder().encode(BareRecord()).base64EncodedString()
        let handle = unsafe PQconnectdb(connection)
        defer { unsafe PQfinish(handle) }
        let statements = [
            "BEGIN",
            """
            SELECT set_config('lock_timeout', '60000', true), set_config('statement_timeout', '60000', true),
                set_config('idle_in_transaction_session_timeout', '60000', true)
            """,
            "SELECT version, record, written FROM access_token_credentials \(row) FOR UPDATE",
            """
            UPDATE access_token_credentials SET version = version + 1, record = decode('\(record)', 'base64'),
                written = clock_timestamp() \(row)
            """,
            "COMMIT",
        ]
        for statement in statements {
            let reply = unsafe PQexec(handle, statement)
            defer { unsafe PQclear(reply) }
            let status = unsafe PQresultStatus(reply)
            guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else { throw Failure(statement: statement) }
        }
    }
}
#endif
