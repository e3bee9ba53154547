import AccessTokenOAuth
import AccessTokenSynchronization
import ConsoleSupport
import Foundation

/// What it takes to read a credential, to lock and read it, and to lock, read and replace it.
///
/// Most of a replacement is the time until the disk has it. So nothing is compared, and there are no ratios.
struct StoreRow {
    static let title = "a credential in a store"

    private static let header = [title, "load()", "lock, read, unlock", "lock, read, write, unlock"]

    private let name: String
    /// The median of each of the three, in nanoseconds.
    private let medians: [Double]

    static func text(_ isQuick: Bool) async throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("benchmarks-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let rows = [
            try await run("in memory", MemoryCredentialStore(), isQuick),
            try await run("in a file", FileCredentialStore(folder: folder), isQuick),
        ]
        let cells = rows.map { row in
            [row.name] + row.medians.map { String(format: "%.1f µs", $0 / 1_000) }
        }
        return TextTable(header: header, rows: cells).text + "\n"
    }

    private static let credential = Credential(
        accessToken: AccessToken(value: String(repeating: "a", count: 800), expiration: .distantFuture),
        refreshToken: String(repeating: "r", count: 800)
    )

    /// From the pool, where such calls are made: a caller on another actor pays for two hops more.
    @concurrent
    private static func run(_ name: String, _ store: some CredentialStore, _ isQuick: Bool) async throws -> StoreRow {
        try await store.update { _ in .replace(credential) }
        var times: [[Double]] = [[], [], []]
        for _ in 0..<(isQuick ? 21 : 501) {
            times[0].append(try await nanoseconds { _ = try await store.load() })
            times[1].append(try await nanoseconds { try await store.update { _ in .keep } })
            times[2].append(try await nanoseconds { try await store.update { _ in .replace(credential) } })
        }
        return StoreRow(name: name, medians: times.map { Spread($0).median })
    }

    private nonisolated(nonsending) static func nanoseconds(
        _ call: nonisolated(nonsending) () async throws -> Void
    ) async rethrows -> Double {
        let watch = Stopwatch()
        try await call()
        return watch.nanoseconds
    }
}
