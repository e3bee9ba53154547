import Dispatch
import Foundation
import TestSupport
import Testing

/// The compiler, if there is one on the search path.
private let compiler = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/swiftc" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

/// Compiles a listing with the thread sanitizer, and runs it in a process of its own, since it is meant to fail there.
@Suite(
    "Under the thread sanitizer",
    .takesTurns,
    .enabled(if: compiler != nil, "there is no swiftc on the search path"),
    .endsHangs
)
struct UnseenFaultTests {
    /// Eight threads ask for a token, and a ninth handler ends the program.
    private static let eightThreads = """
        import Dispatch
        import Foundation

        func effect(_ text: String) {}

        struct Network: TokenLoader {
            func load(then handler: @escaping TokenHandler) {
                DispatchQueue.global().async { handler(.success(CachedToken(value: 1, isValid: true))) }
            }
        }

        let service: any TokenRetrieving =
            switch CommandLine.arguments.last {
            case "version-2": AccessTokenServiceVersion2(loader: Network())
            case "version-3": AccessTokenServiceVersion3(loader: Network())
            default: fatalError("no such version")
            }
        let threads = DispatchGroup()
        for _ in 0..<8 {
            threads.enter()
            Thread.detachNewThread {
                for _ in 0..<100 { service.retrieveToken { _ in } }
                threads.leave()
            }
        }
        threads.wait()
        let answered = DispatchSemaphore(value: 0)
        service.retrieveToken { _ in answered.signal() }
        answered.wait()
        """

    @Test func `the unprotected array of handlers is reported, and not the one on a queue`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "race-gallery-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let main = folder.appending(path: "main.swift")
        try Self.eightThreads.write(to: main, atomically: true, encoding: .utf8)
        let exhibits = repository.appending(path: "Sources/Exploring/RaceGallery/Exhibits")
        let versions = exhibits.appending(path: "GuardingQueue+Versions.swift")
        let program = folder.appending(path: "program").path
        let built = try await run(
            try #require(compiler),
            [
                "-sanitize=thread", "-enable-upcoming-feature", "ImmutableWeakCaptures", "-swift-version", "6",
                "-o", program, main.path, versions.path,
            ]
        )
        try #require(built.status == 0, "\(built.output)")

        let queue = try await run(program, ["version-3"])
        #expect(queue.status == 0, "\(queue.output)")
        let unprotected = try await run(program, ["version-2"])
        #expect(unprotected.status == 66)
        #expect(unprotected.output.contains("WARNING: ThreadSanitizer"), "\(unprotected.output)")
        #expect(unprotected.output.contains("AccessTokenServiceVersion2"), "\(unprotected.output)")
    }

    /// Waits on a thread of its own, since other tests need those of the pool.
    private func run(_ path: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(["TSAN_OPTIONS": "halt_on_error=1 exitcode=66"]) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: (try? pipe.fileHandleForReading.readToEnd()) ?? Data())
            }
        }
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
