import Dispatch
import Foundation

/// A small program that is compiled and run in a process of its own, since it is meant to fail there.
struct SeparateProcess {
    struct Result {
        let status: Int32
        let wasKilledBySignal: Bool
        let output: String
    }

    /// The compiler, if there is one on the search path.
    static let compiler: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/swiftc" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private let folder: URL
    private let program: URL

    /// The compiler refused; the description has its words.
    struct NotCompiled: Error, CustomStringConvertible {
        let description: String
    }

    /// Compiles the program out of a main file and files of the package.
    init(_ main: String, with files: [String] = [], options: [String] = []) async throws {
        guard let compiler = Self.compiler else { throw NotCompiled(description: "there is no compiler") }
        folder = FileManager.default.temporaryDirectory.appending(path: "race-gallery-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        program = folder.appending(path: "program")
        let source = folder.appending(path: "main.swift")
        try main.write(to: source, atomically: true, encoding: .utf8)
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let sources = [source.path] + files.map { root.appending(path: $0).path }
        let built = try await Self.run(compiler, options + ["-swift-version", "6", "-o", program.path] + sources)
        guard built.status == 0 else {
            remove()
            throw NotCompiled(description: built.output)
        }
    }

    func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> Result {
        try await Self.run(program.path, arguments, environment: environment)
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Waits on a thread of its own, since other tests need those of the pool.
    private static func run(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "separate process").async {
                continuation.resume(with: Swift.Result { try runAndWait(path, arguments, environment: environment) })
            }
        }
    }

    private static func runAndWait(
        _ path: String,
        _ arguments: [String],
        environment: [String: String]
    ) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        // A program that hangs is ended, and its status tells.
        let end = DispatchWorkItem { process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: end)
        defer { end.cancel() }
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus,
            wasKilledBySignal: process.terminationReason == .uncaughtSignal,
            output: String(decoding: output, as: UTF8.self)
        )
    }
}
