import AccessTokenOAuth
import Foundation
import Synchronization

#if Postgres
import AccessTokenPostgres
#endif

/// Stores that last: what they cost beside the bare calls of the system, and how soon a killed holder is followed.
enum StoreRows {
    static func all(isQuick: Bool) -> [Comparison] {
        let kinds: [StoreKind]
        #if Postgres
        kinds = StoreKind.database.map { [.folder, $0] } ?? [.folder]
        #else
        kinds = [.folder]
        #endif
        return kinds.flatMap { kind in
            [load(kind, isQuick), update(kind, isQuick)]
        } + kinds.map { takeOver($0, isQuick) }
    }

    private static let bare = "bare calls"

    private static func load(_ kind: StoreKind, _ isQuick: Bool) -> Comparison {
        comparison("load", kind, isQuick) {
            try $0.load()
        } call: {
            _ = try await $0.load()
        }
    }

    private static func update(_ kind: StoreKind, _ isQuick: Bool) -> Comparison {
        comparison("update", kind, isQuick) {
            try $0.replace()
        } call: {
            try await $0.update { _ in .replace(credential) }
        }
    }

    private static func comparison(
        _ title: String,
        _ kind: StoreKind,
        _ isQuick: Bool,
        bareCall: @escaping @Sendable (any BareStoreCalls) throws -> Void,
        call: @escaping @Sendable (any CredentialStore) async throws -> Void
    ) -> Comparison {
        Comparison(
            row: "q",
            title: "\(title), \(kind.title)",
            rounds: isQuick ? 5 : 21,
            contenders: [
                Contender(bare) {
                    let calls = try await filled(kind).bareCalls()
                    return try await repeated(kind.calls) { try bareCall(calls) }
                },
                Contender(kind.name) {
                    let store = try await filled(kind).store()
                    return try await repeated(kind.calls) { try await call(store) }
                },
            ],
            goals: [.time(of: kind.name, to: bare, atMost: 1.5)]
        )
    }

    /// From the signal that kills the holder to the first line of the next body.
    private static func takeOver(_ kind: StoreKind, _ isQuick: Bool) -> Comparison {
        Comparison(
            row: "r",
            title: "take-over from a killed holder, \(kind.title)",
            rounds: isQuick ? 5 : 21,
            contenders: [
                Contender(kind.name) {
                    let store = try await filled(kind).store()
                    let holder = try StoreHolder(kind)
                    defer { holder.end() }
                    let killed = Mutex<Stopwatch?>(nil)
                    async let sample = next(store, killed)
                    // The next one is waiting by then, most likely.
                    try await Task.sleep(for: .milliseconds(50))
                    killed.withLock { $0 = Stopwatch() }
                    holder.end()
                    return try await sample
                }
            ],
            goals: [.rate(of: kind.name, atLeast: 20)]
        )
    }

    private static func next(_ store: any CredentialStore, _ killed: borrowing Mutex<Stopwatch?>) async throws -> Sample
    {
        let sample = Mutex<Sample?>(nil)
        try await store.update { _ in
            let watch = killed.withLock { $0 }
            sample.withLock { $0 = watch?.sample(per: 1) }
            return .keep
        }
        guard let sample = sample.withLock({ $0 }) else { throw StoreHolder.Failure("the holder did not hold") }
        return sample
    }

    // MARK: Samples

    static let credential = Credential(
        accessToken: AccessToken(value: String(repeating: "a", count: 800), expiration: .distantFuture),
        refreshToken: String(repeating: "r", count: 800)
    )

    private static func filled(_ kind: StoreKind) async throws -> StoreKind {
        try await kind.store().update { $0 == nil ? .replace(credential) : .keep }
        return kind
    }

    /// From the pool, where such calls are made: a caller on another actor pays for two hops more.
    @concurrent
    private static func repeated(
        _ count: Int,
        _ call: @Sendable () async throws -> Void
    ) async throws -> Sample {
        let watch = Stopwatch()
        for _ in 0..<count { try await call() }
        return watch.sample(per: count)
    }
}

/// A kind of store, and the place that the benchmarks have for it.
struct StoreKind: Sendable {
    let title: String
    let name: String
    /// Calls in one sample.
    let calls: Int
    let store: @Sendable () throws -> any CredentialStore
    let bareCalls: @Sendable () throws -> any BareStoreCalls

    private static let place = FileManager.default.temporaryDirectory.appending(path: "benchmarks-store-\(getuid())")

    static let folder = StoreKind(title: "folder", name: "FileCredentialStore", calls: 20) {
        FileCredentialStore(folder: place)
    } bareCalls: {
        BareFolder(path: place.path)
    }

    #if Postgres
    /// `nil` without a connection string in the environment.
    static let database = ProcessInfo.processInfo.environment["ACCESS_TOKEN_POSTGRES"].map { connection in
        StoreKind(title: "PostgreSQL", name: "PostgresCredentialStore", calls: 5) {
            PostgresCredentialStore(connection, name: "benchmarks")
        } bareCalls: {
            BarePostgres(connection: connection)
        }
    }
    #endif

    static func named(_ name: String) -> StoreKind? {
        #if Postgres
        return [folder, database].compactMap(\.self).first { $0.name == name }
        #else
        return folder.name == name ? folder : nil
        #endif
    }
}

/// What a store needs of the system, and nothing else.
protocol BareStoreCalls: Sendable {
    func load() throws
    func replace() throws
}

/// A process that holds a store until it is killed: this program, with an option that its help does not mention.
final class StoreHolder: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    static let option = "--hold-store"

    private let process = Process()

    /// Returns when the process is inside.
    init(_ kind: StoreKind) throws {
        let output = Pipe()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [Self.option, kind.name]
        process.standardOutput = output
        try process.run()
        guard !output.fileHandleForReading.availableData.isEmpty else { throw Failure("the holder ended") }
    }

    func end() {
        kill(process.processIdentifier, SIGKILL)
    }

    /// What such a process does.
    static func hold(_ name: String) async throws {
        guard let kind = StoreKind.named(name) else { throw Failure("there is no store \(name)") }
        try await kind.store().update { _ in
            try FileHandle.standardOutput.write(contentsOf: Data("holds\n".utf8))
            try await Task.sleep(for: .seconds(60))
            return .keep
        }
    }
}
