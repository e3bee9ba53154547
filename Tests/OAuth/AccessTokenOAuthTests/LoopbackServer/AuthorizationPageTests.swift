import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth
@testable import LoopbackAuthorizationServer
@testable import OAuthFoundation

@Suite("The loopback server's pages for users", .takesTurns, .endsHangs)
struct AuthorizationPageTests {
    private static let verifier = String(repeating: "v", count: 43)

    private func query(_ changes: [String: String?] = [:]) -> String {
        var parameters: [String: String?] = [
            "response_type": "code", "client_id": "loopback-client", "redirect_uri": "http://127.0.0.1:8400/callback",
            "state": "a&b\r\nSet-Cookie: c", "code_challenge": LoginSecret.challenge(of: Self.verifier),
            "code_challenge_method": "S256",
        ]
        parameters.merge(changes) { $1 }
        return FormEncoding.body(
            parameters.compactMap { name, value in value.map { FormParameter(name, $0) } }.sorted { $0.name < $1.name }
        )
    }

    private func page(_ server: RotatingAuthorizationServer, _ query: String) throws -> String {
        try server.answer(to: "GET /authorize?\(query) HTTP/1.1\r\n\r\n")
    }

    private func parameters(_ location: String) -> [String: String] {
        let items = URLComponents(string: location)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
    }

    private func exchange(_ server: RotatingAuthorizationServer, _ code: String, _ more: String) throws -> WireReply {
        let answer = try server.answer(
            toForm: "grant_type=authorization_code&client_id=loopback-client&code=\(code)&\(more)"
        )
        return try JSONDecoder().decode(WireReply.self, from: Data(answer.components(separatedBy: "\r\n\r\n")[1].utf8))
    }

    @Test(
        arguments: [
            ["client_id": "other"], ["client_id": nil], ["redirect_uri": nil],
            ["redirect_uri": "https://evil.example/"],
            ["redirect_uri": "http://127.0.0.1.evil.example/callback"], ["redirect_uri": "http://127.0.0.1:8400/other"],
            ["redirect_uri": "http://a@127.0.0.1:8400/callback"],
            ["redirect_uri": "http://127.0.0.1:8400/callback?a=b"],
            ["redirect_uri": "http://127.0.0.1:8400/callback\r\nA: b"],
        ] as [[String: String?]]
    )
    func `a client or redirect URI that is not registered gets a page, and no redirect`(changes: [String: String?])
        async throws
    {
        try await withRotatingServer { server throws in
            let page = try page(server, query(changes))
            #expect(page.hasPrefix("HTTP/1.1 400 ") && !page.contains("Location:") && page.contains("text/html"))
            let form = "user=alice&request=\(FormEncoding.encoded(query(changes)))"
            #expect(try server.decide("/authorize", form).isEmpty)
            #expect(try self.page(server, query() + "&state=again").hasPrefix("HTTP/1.1 400 "))
        }
    }

    @Test(
        arguments: [
            (["response_type": "token"], "unsupported_response_type"), (["code_challenge": nil], "invalid_request"),
            (["code_challenge": "short"], "invalid_request"), (["code_challenge_method": "plain"], "invalid_request"),
            (["code_challenge_method": nil], "invalid_request"), (["prompt": "none"], "login_required"),
        ] as [([String: String?], String)]
    )
    func `a wrong request is refused at the client, with its state`(changes: [String: String?], code: String)
        async throws
    {
        try await withRotatingServer { server throws in
            let answer = try page(server, query(changes))
            #expect(answer.hasPrefix("HTTP/1.1 303 ") && !answer.contains("\r\nSet-Cookie"))
            let location = try #require(answer.split(separator: "\r\n").first { $0.hasPrefix("Location: ") }).dropFirst(
                10
            )
            let parameters = parameters(String(location))
            #expect(parameters["error"] == code && parameters["iss"] == server.issuer.absoluteString)
            #expect(parameters["state"] == "a&b\r\nSet-Cookie: c")
        }
    }

    @Test func `the page shows what came with the request as text`() async throws {
        try await withRotatingServer { server throws in
            let page = try page(server, query(["state": "\"><script>alert(1)</script>"]))
            #expect(page.hasPrefix("HTTP/1.1 200 ") && !page.contains("<script"))
            let answer = try server.answer(to: "GET /device?user_code=%22%3E%3Cscript%3E HTTP/1.1\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200 ") && !answer.contains("<script") && answer.contains("&quot;&gt;"))
        }
    }

    @Test func `a code is good once, for its client, redirect URI and verifier`() async throws {
        try await withRotatingServer { server throws in
            func code() throws -> String {
                let location = try server.decide("/authorize", "user=alice&request=\(FormEncoding.encoded(query()))")
                return try #require(parameters(location)["code"])
            }
            let right = "redirect_uri=http%3A%2F%2F127.0.0.1%3A8400%2Fcallback&code_verifier=\(Self.verifier)"
            for wrong in [
                right.replacing("8400", with: "8401"), right + "x", right.replacing("code_verifier", with: "verifier"),
            ] {
                let code = try code()
                #expect(try exchange(server, code, wrong).access_token == nil)
            }
            let spent = try code()
            let first = try exchange(server, spent, right)
            #expect(try server.serves(try #require(first.access_token)))
            #expect(try exchange(server, spent, right).error == "invalid_grant")
            #expect(try !server.serves(try #require(first.access_token)))
            #expect(try exchange(server, "made-up", right).error == "invalid_grant")
            #expect(server.tally.signIns == 1 && server.tally.revokedFamilies == 1)
        }
    }

    @Test func `a code is good for ten minutes, and a code that has expired is spent`() {
        var ledger = LoginLedger()
        let request = LoginLedger.Request(
            clientID: "app",
            redirectURI: "app:/cb",
            challenge: LoginSecret.challenge(of: Self.verifier)
        )
        for (age, isTaken) in [(599, true), (600, false)] as [(TimeInterval, Bool)] {
            let code = ledger.code(for: request, user: "alice", at: 1000)
            let result = ledger.exchange(
                code,
                clientID: "app",
                redirectURI: "app:/cb",
                verifier: Self.verifier,
                at: 1000 + age
            )
            #expect(result == (isTaken ? .granted(user: "alice") : .refused))
            let again = ledger.exchange(
                code,
                clientID: "app",
                redirectURI: "app:/cb",
                verifier: Self.verifier,
                at: 1000
            )
            #expect(again == .spent(family: nil))
        }
    }

    @Test func `a device waits, is told to slow down, and has its tokens once`() async throws {
        let server = try RotatingAuthorizationServer(deviceInterval: 3600)
        defer { server.stop() }
        func reply(_ form: String, _ path: String) throws -> [String: Any] {
            let head = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)"
            let answer = try server.answer(to: "POST \(path) HTTP/1.1\r\n\(head)\r\n\r\n\(form)")
            let body = Data(answer.components(separatedBy: "\r\n\r\n")[1].utf8)
            return try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        }
        let codes = try reply("client_id=loopback-client", "/device_authorization")
        #expect(try reply("client_id=other", "/device_authorization")["error"] as? String == "invalid_client")
        let (device, user) = (codes["device_code"] as? String ?? "", codes["user_code"] as? String ?? "")
        let type = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code"
        let question = "grant_type=\(type)&client_id=loopback-client&device_code="
        #expect(try reply(question + "made-up", "/token")["error"] as? String == "invalid_grant")
        #expect(try reply(question + device, "/token")["error"] as? String == "authorization_pending")
        #expect(try reply(question + device, "/token")["error"] as? String == "slow_down")
        let page = try server.answer(to: "GET /device?user_code=\(user) HTTP/1.1\r\n\r\n")
        #expect(page.contains("value=\"\(user)\""))
        #expect(try server.decide("/device", "user_code=\(user)&user=bob").isEmpty)
        #expect(try reply(question + device, "/token")["access_token"] is String)
        #expect(try reply(question + device, "/token")["error"] as? String == "invalid_grant")
    }
}
