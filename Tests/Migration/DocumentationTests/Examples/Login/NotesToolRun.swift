#if os(macOS) || os(Linux)
import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

/// A tool that runs, in a folder for its configuration.
struct NotesToolRun {
    let process: ChildProcess
    private let configuration: URL
    private let files: URL
    private let printed: PrintedLines

    /// - Parameter settings: variables of its environment, such as `HOME=/`.
    init(_ arguments: [String], at server: URL, configuration: URL, settings: [String] = []) throws {
        self.configuration = configuration
        files = configuration.appendingPathComponent("run-\(UUID().uuidString)")
        let pipe = files.appendingPathExtension("out")
        guard unsafe mkfifo(pipe.path, 0o600) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        // The tool takes the place of the shell: what is sent to the process is sent to the tool.
        let script = #"cd "$0.dir" && exec "$@" >"$0.out" 2>"$0.err""#
        try FileManager.default.createDirectory(
            at: files.appendingPathExtension("dir"),
            withIntermediateDirectories: true
        )
        process = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/env"),
            [
                // No browser of the machine that runs the tests is opened.
                "-u", "DISPLAY", "-u", "WAYLAND_DISPLAY", "-u", "BROWSER", "XDG_CONFIG_HOME=\(configuration.path)",
                "NOTES_SERVER=\(server.absoluteString)",
            ] + settings + ["/bin/sh", "-c", script, files.path, try program(named: "notes-tool").path] + arguments
        )
        printed = PrintedLines(from: pipe)
    }

    /// The folder in which it runs, which it leaves empty.
    var folder: URL { files.appendingPathExtension("dir") }

    /// The folders in which the tool keeps its sessions.
    var sessions: [URL] {
        let folder = configuration.appendingPathComponent("notes")
        return (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    }

    var output: String { printed.text }
    var errors: String {
        (try? String(contentsOf: files.appendingPathExtension("err"), encoding: .utf8)) ?? ""
    }

    /// Its exit code; the output is whole then.
    func end() async throws -> Int32 {
        let code = await process.end()
        await printed.isWhole.wait()
        return code
    }

    /// The code for another device.
    func code() async throws -> String { try await lastWord { $0.contains("the code ") } }

    /// The address for the browser.
    func address() async throws -> URL {
        let word = try await lastWord { $0.hasPrefix("http://") }
        return try #require(URL(string: word))
    }

    private func lastWord(ofLine isMeant: (String) -> Bool) async throws -> String {
        for await line in printed.lines where isMeant(line) {
            return try #require(line.split(separator: " ").last.map(String.init))
        }
        throw POSIXError(.EPIPE)
    }
}

/// What comes through a named pipe, read by a thread until its writer has ended.
private final class PrintedLines: Sendable {
    /// The whole lines, each as soon as it has come; for one reader.
    let lines: AsyncStream<String>
    let isWhole = Event()
    private let bytes = Locked(Data())

    var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }

    init(from pipe: URL) {
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        Thread.detachNewThread { [self] in
            // Opening waits for the writer. No other child inherits the descriptor: its own end would come too late.
            let number = unsafe open(pipe.path, O_RDONLY | O_CLOEXEC)
            var (buffer, rest) = ([UInt8](repeating: 0, count: 4096), Data())
            while true {
                let count = unsafe read(number, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                bytes.withLock { $0 += buffer[..<count] }
                rest += buffer[..<count]
                while let end = rest.firstIndex(of: 10) {
                    line.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
            close(number)
            line.finish()
            isWhole.happen()
        }
    }
}

/// A server at which the tool is registered, and what starts the tool there, in an empty folder.
func withNotesServer(
    loggedInWith credential: Credential? = nil,
    _ body: (RotatingAuthorizationServer, ([String]) throws -> NotesToolRun) async throws -> Void
) async throws {
    let server = try RotatingAuthorizationServer(clients: [.public("notes")])
    defer { server.stop() }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    if let credential { try await keep(credential, of: server.issuer, in: folder) }
    try await body(server) { try NotesToolRun($0, at: server.issuer, configuration: folder) }
}

/// Makes a session of the tool in a folder for configurations.
func keep(_ credential: Credential, of server: URL, in configuration: URL) async throws {
    let url = server.absoluteString.replacing(":", with: "%3A").replacing("/", with: "%2F")
    let store = FileCredentialStore(folder: configuration.appendingPathComponent("notes/session-\(url)"))
    _ = try await store.update { _ in .replace(credential) }
}
#endif
