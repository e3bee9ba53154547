import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation
import TestKeys

#if Postgres
import AccessTokenPostgres
#endif

/// What the tests tell a worker: a task, and names with values.
struct WorkerArguments {
    struct Mistake: Error { let text: String }

    let task: String
    private var values: [String: String] = [:]

    init(_ arguments: some Sequence<String>) throws {
        var rest = Array(arguments)
        guard !rest.isEmpty else { throw Mistake(text: "say the task") }
        task = rest.removeFirst()
        while rest.count >= 2 { values[rest.removeFirst()] = rest.removeFirst() }
        guard rest.isEmpty else { throw Mistake(text: "\(rest[0]) has no value") }
    }

    func stops(at moment: String) -> Bool { values["stops-at"] == moment }

    func value(_ name: String) throws -> String {
        guard let value = values[name] else { throw Mistake(text: "\(name) is missing") }
        return value
    }

    func number(_ name: String) throws -> Double {
        guard let number = Double(try value(name)) else { throw Mistake(text: "\(name) is no number") }
        return number
    }

    func store() throws -> any CredentialStore {
        #if Postgres
        if let row = values["row"] { return try stores().store(for: row) }
        #endif
        return FileCredentialStore(folder: URL(filePath: try value("folder")))
    }

    /// A store for each of many users, which share the few connections of this process.
    func crowd() throws -> [any CredentialStore] {
        #if Postgres
        let (row, stores) = (try value("row"), try stores())
        return (0..<Int(try number("users"))).map { stores.store(for: "\(row) \($0)") }
        #else
        throw Mistake(text: "a crowd needs PostgreSQL")
        #endif
    }

    #if Postgres
    /// The database that the environment names.
    private func stores() throws -> PostgresCredentialStores {
        let connection = ProcessInfo.processInfo.environment["ACCESS_TOKEN_POSTGRES"] ?? ""
        return values["delay"] == nil
            ? PostgresCredentialStores(connection, connections: 2)
            : PostgresCredentialStores(connection, connections: 2, takeOverDelay: try number("delay"))
    }
    #endif

    /// - Parameter journal: is told that the process stops where it was asked to: before its second proof.
    func endpoint(_ journal: Journal) throws -> TokenEndpoint {
        guard let url = URL(string: try value("endpoint")) else { throw Mistake(text: "the endpoint is no URL") }
        let deadline = try values["deadline"].map { _ in try number("deadline") } ?? TokenEndpoint.usualDeadline
        var endpoint = TokenEndpoint(url, authentication: .none(clientID: "loopback-client"), deadline: deadline)
        guard values["keys"] != nil else { return endpoint }
        let stops = stops(at: "repeat")
        let proofs = Locked(0)
        endpoint.proofKeys = .ofThisMachine(signing: {
            let count = proofs.withLock { count in
                count += 1
                return count
            }
            if stops, count == 2 { journal.stop(at: "repeat") }
        })
        return endpoint
    }
}

/// What a worker has done: lines in a file, which outlive the worker that is killed.
final class Journal: Sendable {
    private let file: FileHandle
    private let lock = Locked(())

    init(_ path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw WorkerArguments.Mistake(text: "the journal cannot be written") }
        self.file = file
    }

    func write(_ line: String) {
        lock.withLock { _ in try? file.write(contentsOf: Data("\(line)\n".utf8)) }
    }

    /// Goes no further: the process waits here to be killed.
    func stop(at moment: String) -> Never {
        write("stops \(moment)")
        while true { DispatchSemaphore(value: 0).wait() }
    }
}

/// Writes down with which refresh token a body begins, and that it is over.
final class JournalingStore: CredentialStore {
    var takeOverDelay: TimeInterval { base.takeOverDelay }
    private let base: any CredentialStore
    private let journal: Journal
    /// Whether the process stops before the next refresh token is written.
    private let stopsAtSave: Bool

    init(base: any CredentialStore, journal: Journal, stopsAtSave: Bool) {
        self.base = base
        self.journal = journal
        self.stopsAtSave = stopsAtSave
    }

    func load() async throws -> CredentialRecord? { try await base.load() }

    @discardableResult
    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        defer { journal.write("outside") }
        return try await base.update { record in
            journal.write("inside \(record?.credential.refreshToken ?? "without")")
            let change = try await body(record)
            if stopsAtSave, case .replace(let new) = change, new.refreshToken != record?.credential.refreshToken {
                journal.stop(at: "save")
            }
            return change
        }
    }
}
