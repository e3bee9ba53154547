#if os(macOS) || os(Linux)
import Foundation
import TestSupport

/// A running `credential-worker`.
final class Worker: Sendable {
    private let journal = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)")
    private let process: ChildProcess

    /// - Parameters:
    ///   - task: what it is to do.
    ///   - place: the arguments that say which store it opens.
    ///   - options: names with values.
    ///   - environment: variables beside those of this process.
    init(
        _ task: String,
        _ place: [String: String],
        _ options: [String: String] = [:],
        environment: [String: String] = [:]
    ) throws {
        let values = options.merging(place) { $1 }.merging(["journal": journal.path]) { $1 }
        process = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/env"),
            environment.map { "\($0.key)=\($0.value)" } + [program(named: "credential-worker").path, task]
                + values.flatMap { [$0.key, $0.value] }
        )
    }

    deinit {
        try? FileManager.default.removeItem(at: journal)
    }

    /// What it has written down so far.
    var lines: [String] {
        let text = (try? String(contentsOf: journal, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// The refresh token with which it was inside when it ended.
    var tokenInside: String? {
        guard let last = lines.last, last.hasPrefix("inside ") else { return nil }
        return String(last.dropFirst("inside ".count))
    }

    /// Waits until a line begins so, and gives the rest of it.
    func line(_ start: String) async throws -> String {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            // Before the look: this process may have been stopped after it for as long as that.
            let isLast = ContinuousClock.now >= end
            if let line = lines.first(where: { $0.hasPrefix(start) }) { return String(line.dropFirst(start.count)) }
            if isLast { break }
            try await Task.sleep(for: .milliseconds(2))
        }
        throw Silence(what: "no line \(start) in \(lines)")
    }

    /// Lets a process that holds a store go on.
    func goOn() throws {
        try process.write("\n")
    }

    func send(_ signal: Int32) {
        process.send(signal)
    }

    /// Stops it, and returns when none of its threads runs any more.
    func stop() { process.stop() }

    /// Kills it as a power cut would, and returns when it is gone.
    func end() async throws {
        send(SIGKILL)
        _ = await process.end()
    }

    struct Silence: Error, CustomStringConvertible {
        let what: String
        var description: String { what }
    }
}
#endif
