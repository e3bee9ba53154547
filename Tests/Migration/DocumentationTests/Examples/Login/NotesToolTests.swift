#if os(macOS) || os(Linux)
import AccessTokenCore
import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The command-line tool of the documentation", .endsHangs)
struct NotesToolTests {
    /// A login that has ended, and that no request can renew.
    private let expired = Credential(accessToken: AccessToken(value: "A1", expiration: .now - 60), refreshToken: nil)

    private func logIn(
        _ user: String?,
        _ server: RotatingAuthorizationServer,
        _ run: ([String]) throws -> NotesToolRun
    ) async throws -> Int32 {
        let login = try run(["login", "--device"])
        server.decide(userCode: try await login.code(), user: user)
        return try await login.end()
    }

    @Test func `ten tools at once renew by one request, and one of ten logs another user in`() async throws {
        try await withNotesServer { server, run in
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
        try await withNotesServer { server, run in
            #expect(try await logIn("alice", server, run) == 0)
            #expect(try await logIn(nil, server, run) == 77)
            let cut = try run(["login", "--device"])
            _ = try await cut.code()
            cut.process.send(SIGKILL)
            #expect(try await cut.end() == 128 + SIGKILL, "the tool itself has been killed")
            let list = try run(["list"])
            #expect(try await list.end() == 0)
            #expect(list.output.contains(#""user":"alice""#))
        }
    }

    @Test func `a browser logs in, by the address that the tool prints`() async throws {
        try await withNotesServer { server, run in
            let login = try run(["login"])
            let url = try await login.address()
            let redirect = try #require(server.redirect(for: url, user: "alice"))
            let (page, _) = try await URLSession.shared.data(from: redirect)
            #expect(String(decoding: page, as: UTF8.self).contains("You can close this window"))
            #expect(try await login.end() == 0)
            #expect(login.output.hasSuffix("You are logged in.\n"))
        }
    }

    @Test func `a login whose code is refused says so, and the former session goes on`() async throws {
        try await withNotesServer { server, run in
            #expect(try await logIn("alice", server, run) == 0)
            let login = try run(["login"])
            let redirect = try #require(server.redirect(for: try await login.address(), user: "bob"))
            var parts = try #require(URLComponents(url: redirect, resolvingAgainstBaseURL: false))
            parts.queryItems = parts.queryItems?.map { $0.name == "code" ? URLQueryItem(name: "code", value: "X") : $0 }
            _ = try await URLSession.shared.data(from: try #require(parts.url))
            #expect(try await login.end() == 77)
            #expect(login.errors == "notes: Nobody was logged in.\n")
            let list = try run(["list"])
            #expect(try await list.end() == 0)
            #expect(list.output.contains(#""user":"alice""#))
        }
    }

    @Test func `an end user is told why a login without a refresh token has ended`() async throws {
        try await withNotesServer(loggedInWith: expired) { _, run in
            let tool = try run(["list"])
            #expect(try await tool.end() == 77)
            #expect(tool.errors.contains("no refresh token") && tool.errors.contains("offline_access"))
        }
    }

    @Test(arguments: ["", "relative", "./relative"])
    func `a configuration folder that is empty or relative counts as none`(setting: String) async throws {
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("home-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }
        let server = try #require(URL(string: "http://127.0.0.1:9"))
        try await keep(expired, of: server, in: home.appendingPathComponent(".config"))
        let settings = ["HOME=\(home.path)", "CFFIXED_USER_HOME=\(home.path)", "XDG_CONFIG_HOME=\(setting)"]
        let tool = try NotesToolRun(["list"], at: server, configuration: home, settings: settings)
        #expect(try await tool.end() == 77)
        #expect(tool.errors.contains("Your login has expired"), "\(tool.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: tool.folder.path) == [])
    }

    @Test(arguments: ["http://127.0.0.1:9/a", "https://127.0.0.1:9/b", "http://127.0.0.1:9/B", "http://127.0.0.1:10/b"])
    func `a token of one server is not read for another one`(other: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let (server, other) = (try #require(URL(string: "http://127.0.0.1:9/b")), try #require(URL(string: other)))
        try await keep(expired, of: server, in: folder)
        for (url, says) in [(server, "Your login has expired"), (other, "You are not logged in")] {
            let tool = try NotesToolRun(["list"], at: url, configuration: folder)
            #expect(try await tool.end() == 77)
            #expect(tool.errors.contains(says), "\(url): \(tool.errors)")
        }
    }

    @Test func `an end user is told what to do`() async throws {
        try await withNotesServer { server, run in
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
            let logout = try run(["logout"])
            #expect(try await logout.end() == 0)
            #expect(logout.output == "You are logged out.\n")
            #expect(try await run(["list"]).end() == 77)
            #expect(server.tally.revokedFamilies == 1)
        }
    }

    @Test func `a logout that nobody could tell the server says so`() async throws {
        try await withNotesServer { server, run in
            #expect(try await logIn("alice", server, run) == 0)
            server.stop()
            let logout = try run(["logout"])
            #expect(try await logout.end() == 75)
            #expect(
                logout.errors == "notes: You are logged out on this machine. "
                    + "The server could not be told: end this login in your account there.\n"
            )
            #expect(logout.output.isEmpty)
            #expect(try await run(["list"]).end() == 77)
        }
    }

    @Test func `a logout that could not remove the login says so, and the next one removes it`() async throws {
        try await withNotesServer { server, run in
            #expect(try await logIn("alice", server, run) == 0)
            let list = try run(["list"])
            #expect(try await list.end() == 0)
            let session = try #require(list.sessions.first)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: session.path)
            let logout = try run(["logout"])
            #expect(try await logout.end() == 73)
            #expect(logout.errors.hasPrefix("notes: The login is still on this machine. Run: notes logout, once more."))
            #expect(logout.errors.contains(session.path))
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: session.path)
            #expect(try await run(["logout"]).end() == 0)
            #expect(try await run(["list"]).end() == 77)
        }
    }
}
#endif
