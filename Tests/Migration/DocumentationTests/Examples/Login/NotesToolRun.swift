#if os(macOS) || os(Linux)
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

/// A tool that runs, in a folder for its configuration.
struct NotesToolRun {
    let process: ChildProcess
    private let files: URL

    init(_ arguments: [String], at server: URL, configuration: URL) throws {
        files = configuration.appendingPathComponent("run-\(UUID().uuidString)")
        let script = #"exec >"$0.out" 2>"$0.err"; "$@"; echo $? >"$0.end"; mv "$0.end" "$0.code""#
        process = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/env"),
            [
                // No browser of the machine that runs the tests is opened.
                "-u", "DISPLAY", "-u", "WAYLAND_DISPLAY", "-u", "BROWSER", "XDG_CONFIG_HOME=\(configuration.path)",
                "NOTES_SERVER=\(server.absoluteString)", "/bin/sh", "-c", script, files.path,
                try program(named: "notes-tool").path,
            ] + arguments
        )
    }

    private func text(_ suffix: String) -> String {
        (try? String(contentsOf: files.appendingPathExtension(suffix), encoding: .utf8)) ?? ""
    }

    var output: String { text("out") }
    var errors: String { text("err") }

    /// Waits for what another process does, of which nothing here is told.
    private func until<Value>(_ what: () -> Value?) async throws -> Value {
        while true {
            if let value = what() { return value }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Its exit code.
    func end() async throws -> Int32 {
        try await until { Int32(text("code").trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// The code for another device.
    func code() async throws -> String { try await lastWord { $0.contains("the code ") } }

    /// The address for the browser.
    func address() async throws -> URL {
        let word = try await lastWord { $0.hasPrefix("http://") }
        return try #require(URL(string: word))
    }

    private func lastWord(ofLine isMeant: (Substring) -> Bool) async throws -> String {
        try await until {
            // The last part is no whole line yet.
            let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            return lines.first(where: isMeant)?.split(separator: " ").last.map(String.init)
        }
    }
}

/// A server at which the tool is registered, and what starts the tool there, in an empty folder.
func withNotesServer(
    _ body: (RotatingAuthorizationServer, ([String]) throws -> NotesToolRun) async throws -> Void
) async throws {
    let server = try RotatingAuthorizationServer(clients: [.public("notes")])
    defer { server.stop() }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(server) { try NotesToolRun($0, at: server.issuer, configuration: folder) }
}
#endif
