import AccessTokenOAuth
import ConsoleSupport
import Foundation
import TestSupport
import Testing

@testable import token_reply

@Suite("The command that tries a reply", .endsHangs)
struct ReplyTrialTests {
    private func report(_ text: String, _ server: KnownServer? = nil, isForDevice: Bool = false) async throws -> String
    {
        let reply = try #require(RawReply(Data(text.utf8)))
        let trial = ReplyTrial(reply: reply, server: server)
        return (isForDevice ? try trial.reportForDevice() : try await trial.report()).joined(separator: "\n")
    }

    @Test(
        arguments: [
            (
                "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\r\n{\"error\":\"invalid_grant\"}",
                ["is asked to sign in", "is removed", "never"]
            ),
            ("HTTP/2 200\n\n<html>", ["is not asked", "stays", "after a moment"]),
            ("HTTP/1.1 429 \r\nRetry-After: 20\r\n\r\n", ["is not asked", "stays", "after 20 s"]),
            ("HTTP/1.1 429 \r\nRetry-After: 21\r\n\r\n", ["is not asked", "stays", "at the next call; a"]),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 400 Bad\r\n\r\n{\"error\":\"mfa_required\"}",
                ["not for two minutes"]
            ),
            (
                "HTTP/1.1 200 Connection established\r\n\r\nHTTP/2 400\r\n\r\n{\"error\":\"invalid_grant\"}",
                ["is asked to sign in", "is removed", "never"]
            ),
            ("HTTP/1.1 200 OK\r\n\r\n{\"x\":1}\n", ["is asked to sign in", "stays", "not until the app decides"]),
            (
                "HTTP/1.1 200 OK\r\n\r\n{\"access_token\":\"A\",\"token_type\":\"mac\"}",
                ["not for five minutes", "mac"]
            ),
            ("HTTP/1.1 401 No\r\n\r\n{\"error\":\"invalid_client\"}", ["is not asked", "at the next call", "secret"]),
            (
                "HTTP/1.1 200 OK\r\n\r\n{\"access_token\":\"A\",\"refresh_token\":\"R\",\"expires_in\":60}",
                ["is handed out, and expires in ", "stays, with the next refresh token"]
            ),
        ] as [(String, [String])]
    )
    func `says what the client does`(text: String, parts: [String]) async throws {
        let report = try await report(text)
        for part in parts { #expect(report.contains(part), "\(report)") }
    }

    @Test func `knows the servers, and a device`() async throws {
        let limit = "HTTP/1.1 200 OK\r\n\r\n{\"status\":601,\"error\":\"x\"}"
        #expect(try await report(limit).contains("is not asked") == true)
        #expect(try await report(limit, .withings).contains("by a RetryingLoader after a moment"))
        #expect(try await report("HTTP/1.1 418 \r\n\r\n", .trakt, isForDevice: true).contains("access_denied"))
    }

    @Test(
        arguments: [
            (["--server"], .missingValue("--server")),
            (["--when", "--device"], .missingValue("--when")),
            (["--device=1"], .takesNoValue("--device")),
            (["--fast"], .unknown("--fast")),
            (["--server", "Withings", "--type=mac"], UsageError("a known server has rules already")),
            (["/dev/null/reply.txt"], UsageError("the file /dev/null/reply.txt cannot be read")),
        ] as [([String], UsageError)]
    )
    func `refuses arguments by name`(_ arguments: [String], _ expected: UsageError) async {
        await #expect(throws: expected) { try await TokenReply.run(arguments, Console(program: "test")) }
    }

    @Test func `tries rules that are no server's yet`() async throws {
        var own = OwnServer()
        #expect(own.server == nil)
        for (option, value) in [
            ("--tokens-in", "result"), ("--type", "AcmeToken"), ("--when", "code=4711:sessionEnded"),
            ("--when", "error.text=a:b:later"), ("--when", "418:denied"),
        ] {
            let makesSense = own.read(option, value)
            #expect(makesSense, "\(value)")
        }
        let server = try #require(own.server)
        func report(_ status: Int, _ body: String, isForDevice: Bool = false) async throws -> String {
            try await self.report("HTTP/1.1 \(status) \r\n\r\n\(body)", server, isForDevice: isForDevice)
        }
        #expect(try await report(200, #"{"result":null,"code":4711}"#).contains("is removed"))
        #expect(try await report(400, #"{"error":{"text":"a:b"}}"#).contains("by a RetryingLoader"))
        #expect(try await report(200, #"{"result":{"access_token":"A"}}"#).contains("is handed out"))
        #expect(try await report(200, #"{"access_token":"A","token_type":"acmetoken"}"#).contains("is handed out"))
        #expect(try await report(418, "", isForDevice: true).contains("access_denied"))
    }

    @Test(arguments: ["", "code", "code=4711", "4711", "code=4711:never", ":later", "=:later", "code=:later"])
    func `says that a rule makes no sense`(rule: String) {
        var own = OwnServer()
        let makesSense = own.read("--when", rule)
        #expect(!makesSense && own.server == nil)
    }

    @Test func `prints what the page of servers shows`() async throws {
        let body = #"{"status":601,"body":{"wait_seconds":188},"error":"Too often"}"#
        let printed = try await report("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n\(body)", .withings)
        // From `Endpoint/Replies` up to the package's folder.
        let root = (0..<6).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = "Sources/OAuth/AccessTokenOAuth/AccessTokenOAuth.docc/Servers.md"
        let text = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
        #expect(text.contains("--server Withings reply.txt\n\(printed)\n```"), "\(printed)")
    }

    @Test(arguments: ["", "{}", "HTTP/1.1\n\n", "HTTP/1.1 abc\n\n", "GET / HTTP/1.1\n\n"])
    func `refuses what is no reply`(text: String) { #expect(RawReply(Data(text.utf8)) == nil) }
}
