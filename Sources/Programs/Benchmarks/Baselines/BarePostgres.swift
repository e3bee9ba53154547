#if Postgres
import AccessTokenOAuth
import CLibpq
import Foundation

/// The statements that a credential in PostgreSQL needs, each by one call of libpq, on a connection for each use.
struct BarePostgres: BareStoreCalls {
    struct Failure: Error { let statement: String }

    let connection: String

    func load() throws {
        try connected { run in
            try run("BEGIN", [])
            try run(Self.limits, [])
            try run("SELECT version, record, written FROM access_token_credentials WHERE name = $1", [Self.name])
        }
    }

    func replace() throws {
        let data = try JSONEncoder().encode(BareRecord())
        try connected { run in
            try run("BEGIN", [])
            try run(Self.limits, [])
            try run(
                "SELECT version, record, written FROM access_token_credentials WHERE name = $1 FOR UPDATE",
                [Self.name]
            )
            try run(Self.writing, [Self.name, data])
            try run("COMMIT", [])
        }
    }

    private func connected(_ body: ((String, [Data]) throws -> Void) throws -> Void) throws {
        let handle = unsafe PQconnectdb(connection)
        defer { unsafe PQfinish(handle) }
        try body { statement, values in
            let texts = values.map { Array($0.map { CChar(bitPattern: $0) }) }
            let reply = unsafe texts.withPlaces { places in
                let lengths = texts.map { Int32($0.count) }
                let formats = texts.map { _ in Int32(1) }
                return unsafe PQexecParams(handle, statement, Int32(texts.count), nil, places, lengths, formats, 1)
            }
            defer { unsafe PQclear(reply) }
            let status = unsafe PQresultStatus(reply)
            guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else { throw Failure(statement: statement) }
        }
    }

    private static let name = Data("benchmarks".utf8)
    private static let writing = """
        UPDATE access_token_credentials SET version = version + 1, record = $2, written = clock_timestamp()
        WHERE name = $1
        """
    private static let limits = """
        SELECT set_config('lock_timeout', '60000', true), set_config('statement_timeout', '60000', true),
            set_config('idle_in_transaction_session_timeout', '60000', true)
        """
}

extension [[CChar]] {
    /// The addresses of at most two texts.
    fileprivate func withPlaces<Result>(_ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
        unsafe (first ?? []).withUnsafeBufferPointer { first in
            unsafe (count > 1 ? self[1] : []).withUnsafeBufferPointer { second in
                unsafe body([first.baseAddress, second.baseAddress])
            }
        }
    }
}
#endif
