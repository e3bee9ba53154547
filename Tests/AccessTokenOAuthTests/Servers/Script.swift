import Foundation

/// A program that a test runs, and waits for.
enum Script {
    struct Failed: Error {
        let status: Int32
    }

    /// - Parameter isDaemon: whether it leaves a process behind, which would keep its output open for ever.
    /// - Returns: the words of its standard output, none of a daemon.
    @discardableResult
    static func run(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        isDaemon: Bool = false
    ) async throws -> [String] {
        // The other systems can start no process; nobody runs servers for them.
        #if os(macOS) || os(Linux)
        let output = isDaemon ? nil : Pipe()
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output.map { $0 as Any } ?? FileHandle.nullDevice
        let status = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        guard status == 0 else { throw Failed(status: status) }
        guard let output else { return [] }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return text.split(whereSeparator: \.isWhitespace).map(String.init)
        #else
        throw Failed(status: -1)
        #endif
    }
}
