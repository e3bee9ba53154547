#if Postgres
import AccessTokenOAuth
import AccessTokenPostgres
import Foundation

/// A process that renews the tokens of many users once, when its parent says so, and tells what that cost.
enum FleetWorker {
    /// Followed by the token endpoint, the kind of store, the first user and their number.
    static let option = "--fleet-worker"
    /// The kind of store that is in memory, and the one that is in the rows of a database.
    static let kinds = (memory: "memory", rows: "rows")
    /// Names the database, as `.ci/with-postgres` does.
    static let database = "ACCESS_TOKEN_POSTGRES"

    struct Outcome: Codable, Sendable {
        let renewed: Int
        /// Seconds of all processors in this process.
        let processorSeconds: Double
    }

    static func run(_ url: URL, kind: String, first: Int, count: Int) async throws {
        // The pool has the usual eight connections, and the process one more.
        let rows = ProcessInfo.processInfo.environment[database].map { PostgresCredentialStores($0, waitLimit: 3600) }
        let stores = (first..<first + count).map { user -> any CredentialStore in
            guard kind == kinds.rows, let rows else { return MemoryCredentialStore() }
            return rows.store(for: "user \(user)")
        }
        try await forEach(stores, atOnce: 8) { store in
            try await store.update { _ in .replace(Credential(refreshToken: "RT")) }
        }
        let endpoint = TokenEndpoint(url, authentication: .none(clientID: "benchmarks"), deadline: 3600)
        let exchange = TokenExchange(endpoint)
        say("ready")
        guard readLine() != nil else { return }
        let before = processorSeconds
        try await forEach(stores, atOnce: count) { store in
            _ = try await OAuthLoader(exchange, store: store).load(replacing: nil)
        }
        let outcome = Outcome(renewed: count, processorSeconds: processorSeconds - before)
        say(String(decoding: try JSONEncoder().encode(outcome), as: UTF8.self))
        // The connections are open until the parent has looked at the database.
        _ = readLine()
    }

    /// Unbuffered, as standard output is not where it is a pipe.
    private static func say(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8)) }

    private static func forEach(
        _ stores: [any CredentialStore],
        atOnce most: Int,
        _ body: @escaping @Sendable (any CredentialStore) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, store) in stores.enumerated() {
                if index >= most { try await group.next() }
                group.addTask { try await body(store) }
            }
            try await group.waitForAll()
        }
    }

    private static var processorSeconds: Double {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
#endif
