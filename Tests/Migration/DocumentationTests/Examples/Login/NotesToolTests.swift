#if os(macOS) || os(Linux)
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The command-line tool of the documentation", .timeLimit(.minutes(5)))
struct NotesToolTests {
    /// A tool that runs, in a folder for its configuration.
    private struct Run {
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

        func end() async throws -> Int32 {
            try await until { Int32(text("code").trimmingCharacters(in: .whitespacesAndNewlines)) }
        }

        func code() async throws -> String {
            try await until { output.hasSuffix("\n") ? output.split { " \n".contains($0) }.last.map(String.init) : nil }
        }
    }

    private func withServer(
        _ body: (RotatingAuthorizationServer, ([String]) throws -> Run) async throws -> Void
    ) async throws {
        let server = try RotatingAuthorizationServer(clients: [.public("notes")])
        defer { server.stop() }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(server) { try Run($0, at: server.issuer, configuration: folder) }
    }

    private func logIn(
        _ user: String?,
        _ server: RotatingAuthorizationServer,
        _ run: ([String]) throws -> Run
    ) async throws -> Int32 {
        let login = try run(["login", "--device"])
        server.decide(userCode: try await login.code(), user: user)
        return try await login.end()
    }

    @Test func `ten tools at once renew by one request, and one of ten logs another user in`() async throws {
        try await withServer { server, run in
            #expect(try await logIn("alice", server, run) == 0)
            let before = server.tally.tokenRequests
            server.expireAccessTokens()
            let tools = try (0..<10).map { _ in try run(["list"]) }
            for tool in tools {
                #expect(try await tool.end() == 0, "\(tool.errors)")
                #expect(tool.output.contains(#""user":"alice""#))
            }
            #expect(server.tally.tokenRequests == before + 1)

            server.expireAccessTokens()
            let others = try (0..<9).map { _ in try run(["list"]) }
            #expect(try await logIn("bob", server, run) == 0)
            for tool in others { #expect(try await tool.end() == 0, "\(tool.errors)") }
            let last = try run(["list"])
            #expect(try await last.end() == 0)
            #expect(last.output.contains(#""user":"bob""#))
            #expect(server.tally.reuses == 0)
        }
    }

    @Test func `a login that is refused or cut off leaves the former session as it was`() async throws {
        try await withServer { server, run in
            #expect(try await logIn("alice", server, run) == 0)
            #expect(try await logIn(nil, server, run) == 77)
            let cut = try run(["login", "--device"])
            _ = try await cut.code()
            cut.process.send(SIGKILL)
            let list = try run(["list"])
            #expect(try await list.end() == 0)
            #expect(list.output.contains(#""user":"alice""#))
        }
    }

    @Test func `a browser logs in, by the address that the tool prints`() async throws {
        try await withServer { server, run in
            let login = try run(["login"])
            let url = try #require(URL(string: try await login.code()))
            let redirect = try #require(server.redirect(for: url, user: "alice"))
            let (page, _) = try await URLSession.shared.data(from: redirect)
            #expect(String(decoding: page, as: UTF8.self).contains("You can close this window"))
            #expect(try await login.end() == 0)
            #expect(login.output.hasSuffix("You are logged in.\n"))
        }
    }

    @Test func `an end user is told what to do`() async throws {
        try await withServer { server, run in
            let cases: [([String], Int32, String)] = [
                (["list"], 77, "notes: You are not logged in. Run: notes login\n"), (["logout"], 0, ""),
                (["other"], 64, "notes: Say one of: notes login [--device], notes list, notes logout.\n"),
            ]
            for (arguments, code, text) in cases {
                let tool = try run(arguments)
                #expect(try await tool.end() == code)
                #expect(tool.errors == text)
            }
            #expect(try await logIn("alice", server, run) == 0)
            #expect(try await run(["logout"]).end() == 0)
            #expect(try await run(["list"]).end() == 77)
            #expect(server.tally.revokedFamilies == 1)
        }
    }
}
#endif
