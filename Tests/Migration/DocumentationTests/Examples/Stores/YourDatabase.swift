import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation

/// Stands for a team's driver of its own database, whose rows can be locked.
nonisolated struct YourDatabase: Sendable {
    struct Row: Sendable {
        var credential: Credential?
        var version = 0

        var record: CredentialRecord? { credential.map { CredentialRecord(credential: $0, version: version) } }
    }

    struct LockTimeout: Error {}

    /// The one server that all connections reach.
    private final class Server: Sendable {
        let rows = Locked<[String: Row]>([:])
        let locks = Locked<Set<String>>([])
    }

    private static let server = Server()

    let lockTimeout: TimeInterval

    func row(_ name: String) throws -> Row {
        Self.server.rows.withLock { $0[name] ?? Row() }
    }

    func withLockedRow<Result>(_ name: String, _ body: (inout Row) async throws -> Result) async throws -> Result {
        let end = Date.now + lockTimeout
        while !Self.server.locks.withLock({ $0.insert(name).inserted }) {
            guard Date.now < end else { throw LockTimeout() }
            try await Task.sleep(nanoseconds: 1_000_000)
        }
        defer { _ = Self.server.locks.withLock { $0.remove(name) } }
        var row = try row(name)
        let result = try await body(&row)
        let new = row
        Self.server.rows.withLock { $0[name] = new }
        return result
    }
}
