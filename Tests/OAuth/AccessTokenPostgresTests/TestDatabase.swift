#if Postgres
import AccessTokenAsync
import AccessTokenPostgres
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

/// A database as one test sees it: a schema of its own, and connections that it can tell from those of others.
struct TestDatabase: Sendable {
    static let connection = ProcessInfo.processInfo.environment["ACCESS_TOKEN_POSTGRES"]
    static let restart = ProcessInfo.processInfo.environment["ACCESS_TOKEN_POSTGRES_RESTART"]

    /// What the schema of the test and its connections are called.
    let application = "test\(UUID().uuidString.filter { $0 != "-" }.lowercased())"
    let connectionString: String
    private let ownConnectionString: String

    init() async throws {
        let base = try #require(Self.connection)
        let options = "options='-c search_path=\(application)'"
        connectionString = "\(base) application_name=\(application) \(options)"
        // Not the name that connections have without one: the kill tests cut those.
        ownConnectionString = "\(base) application_name=\(application)-own \(options)"
        try await run("CREATE SCHEMA \(application)")
    }

    /// Stores as another process would open them.
    func stores(
        _ seal: CredentialSeal? = nil,
        connections: Int = 2,
        waitLimit: TimeInterval = 60,
        clock: any AccessTokenClock = SystemClock()
    ) -> PostgresCredentialStores {
        PostgresCredentialStores(
            connectionString,
            connections: connections,
            seal: seal,
            waitLimit: waitLimit,
            clock: clock
        )
    }

    /// The store of the test's own account, as another process would open it.
    func store(
        _ seal: CredentialSeal? = nil,
        waitLimit: TimeInterval = 60,
        clock: any AccessTokenClock = SystemClock()
    ) -> any CredentialStore {
        stores(seal, waitLimit: waitLimit, clock: clock).store(for: application)
    }

    /// Runs a statement on a connection of its own, which is not one of the test's.
    @discardableResult
    func run(_ statement: String, _ values: [String] = []) async throws -> [[Data?]] {
        try await connection().run(statement, values.map { Data($0.utf8) }).rows
    }

    /// A connection which is not one of the test's.
    func connection() async throws -> PostgresConnection {
        let executor = DispatchQueueExecutor(queue: DispatchQueue(label: "test"))
        let connection = PostgresConnection(to: PostgresServer(ownConnectionString), on: executor)
        try await connection.open()
        return connection
    }

    /// A connection string whose connections can be told from the test's others.
    func connectionString(as application: String) -> String { "\(connectionString) application_name=\(application)" }

    /// Ends all connections of that name, and returns when they are gone.
    func terminate(_ application: String) async throws {
        try await run(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = $1",
            [application]
        )
    }

    /// Ends all connections of the test, and returns when they are gone.
    func terminate() async throws { try await terminate(application) }

    /// Restarts the server, and returns when it takes connections again.
    static func restartServer() throws {
        let process = Process()
        process.executableURL = URL(filePath: try #require(restart))
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    /// Waits until so many connections of the test wait for a lock.
    func waitForWaiters(_ count: Int) async throws {
        try await waitForConnections(count, where: "wait_event_type = 'Lock'")
    }

    /// Waits until so many connections of the test are as the condition says.
    func waitForConnections(_ count: Int, where condition: String) async throws {
        let statement = "SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND \(condition)"
        let start = ContinuousClock.now
        while try await run(statement, [application]).count != count {
            try #require(start.duration(to: .now) < .seconds(60), "never \(count) connections where \(condition)")
        }
    }
}

extension Trait where Self == ConditionTrait {
    static var needsPostgres: Self {
        .enabled(if: TestDatabase.connection != nil, "ACCESS_TOKEN_POSTGRES names no server: .ci/deep postgres")
    }
}
#endif
