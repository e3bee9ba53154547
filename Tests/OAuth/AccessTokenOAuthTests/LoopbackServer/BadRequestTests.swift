import Foundation
import TestSupport
import Testing

@testable import LoopbackAuthorizationServer
@testable import OAuthFoundation

@Suite("The loopback server survives every request", .takesTurns, .endsHangs)
struct BadRequestTests {
    /// A bar stands for the end of a line.
    @Test(arguments: [
        "", "GET", "GET /resource", "GET /resource SPDY/3", "GET resource HTTP/1.1",
        "GET /resource HTTP/1.1|nonsense", "GET /resource HTTP/1.1|: x",
        "GET /resource HTTP/1.1|A: b| c: d",
        "GET /resource HTTP/1.1|A: \u{1}", "GET /re\0source HTTP/1.1",
        "POST /token HTTP/1.1|Content-Length: -1",
        "POST /token HTTP/1.1|Content-Length: +1", "POST /token HTTP/1.1|Content-Length: many",
        "POST /token HTTP/1.1|Content-Length: \(Int.max)",
        "POST /token HTTP/1.1|Content-Length: 99999999999999999999999",
        "POST /token HTTP/1.1|Content-Length: 1|Content-Length: 2",
        "POST /token HTTP/1.1|Transfer-Encoding: chunked",
        "GET /resource HTTP/1.1|Authorization: Bearer a b",
        "GET /resource HTTP/1.1|Authorization: Basic YTpi",
        "GET /resource HTTP/1.1|A\u{E9}: b", "GET /r\u{E9}source HTTP/1.1",
        "GET /resource HTTP/1.1|A: \(String(repeating: "a", count: 70_000))",
    ])
    func `garbage is answered with 400, and the next request is served`(_ head: String) async throws {
        try await withRotatingServer { server throws in
            let pair = server.signIn()
            let request = "\(head.replacingOccurrences(of: "|", with: "\r\n"))\r\n\r\n"
            #expect(try server.answer(to: request).hasPrefix("HTTP/1.1 400 "))
            #expect(server.tally.tokenRequests == 0)
            #expect(try server.serves(pair.accessToken))
        }
    }

    @Test(arguments: [[22, 3, 1, 0, 5, 1, 0], Array(repeating: 0xFF, count: 512)])
    func `bytes that are no text are answered with 400`(_ bytes: [UInt8]) async throws {
        try await withRotatingServer { server throws in
            let connection = try SocketDescriptor.connected(toPort: server.port)
            connection.send(bytes + Array("\r\n\r\n".utf8))
            #expect(connection.finish().hasPrefix("HTTP/1.1 400 "))
        }
    }

    @Test(arguments: [
        ("grant_type", "invalid_client"),
        ("", "invalid_client"),
        ("client_id=somebody&grant_type=refresh_token&refresh_token=a", "invalid_client"),
        ("%zz=1", "invalid_request"),
        ("grant_type=%F", "invalid_request"),
        ("grant_type=%FF", "invalid_request"),
        ("grant_type=a&grant_type=a", "invalid_request"),
        ("client_id=loopback-client&refresh_token=a", "invalid_request"),
        ("client_id=loopback-client&grant_type=refresh_token&refresh_token=", "invalid_request"),
        ("client_id=loopback-client&grant_type=password&username=a", "unsupported_grant_type"),
        ("client_id=loopback-client&grant_type=refresh_token&refresh_token=a", "invalid_grant"),
    ])
    func `a form is refused with the code of RFC 6749, section 5.2`(_ body: String, _ code: String) async throws {
        try await withRotatingServer { server throws in
            let answer = try server.answer(toForm: body)
            #expect(answer.hasPrefix("HTTP/1.1 \(code == "invalid_client" ? 401 : 400) "))
            #expect(answer.hasSuffix(#"{"error":"\#(code)"}"#))
            #expect(
                try server.answer(toForm: body, type: "application/json").hasSuffix(#"{"error":"invalid_request"}"#)
            )
        }
    }

    @Test func `other paths, methods and schemes are refused, and no answer has a token in it`() async throws {
        try await withRotatingServer { server throws in
            let pair = server.signIn()
            #expect(try server.answer(to: "GET / HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 404 "))
            #expect(try server.answer(to: "GET /token HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 405 "))
            #expect(try server.answer(to: "DELETE /resource HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 405 "))
            let anonymous = try server.answer(to: "GET /resource HTTP/1.1\r\n\r\n")
            #expect(anonymous.hasPrefix("HTTP/1.1 401 "))
            #expect(anonymous.contains("\r\nWWW-Authenticate: Bearer\r\n"))
            let request = "GET /resource HTTP/1.1\r\nAuthorization: bEARER \(pair.accessToken)\r\n\r\n"
            #expect(try server.answer(to: request).hasPrefix("HTTP/1.1 200 "))
            server.expireAccessTokens()
            let expired = try server.answer(to: request)
            #expect(expired.contains("\r\nWWW-Authenticate: Bearer error=\"invalid_token\""))
            #expect(!expired.contains(pair.accessToken))
        }
    }

    @Test func `a client that leaves during a request, or before its answer, disturbs no other`() async throws {
        let requests = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        try await withRotatingServer { event in
            guard case .tokenRequested = event else { return }
            requests.continuation.yield()
            gate.wait()
        } _: { server throws in
            for part in ["", "POST /tok", "POST /token HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf"] {
                #expect(try server.answer(to: part).isEmpty)
            }
            let connection = try SocketDescriptor.connected(toPort: server.port)
            connection.send("POST /token HTTP/1.1\r\n\r\n")
            for await _ in requests.stream { break }
            connection.reset()
            gate.signal()
            #expect(try server.serves(server.signIn().accessToken))
        }
    }

    @Test func `browsers bring long cookies along, and text beyond ASCII`() async throws {
        try await withRotatingServer { server throws in
            let cookies = "Cookie: a=\(String(repeating: "é", count: 16_000))"
            let token = server.signIn().accessToken
            let request = "GET /resource HTTP/1.1\r\n\(cookies)\r\nAuthorization: Bearer \(token)\r\n\r\n"
            #expect(try server.answer(to: request).hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test func `a request is the same in one piece and byte by byte`() throws {
        let bytes = Array("POST /token?a=b HTTP/1.1\r\nContent-Length: 3\r\nX-A:  b \r\n\r\nc=d".utf8)
        var reader = HTTPRequestReader()
        for byte in bytes.dropLast() {
            #expect(reader.append([byte]) == .incomplete)
        }
        let fields = ["content-length": ["3"], "x-a": ["b"]]
        let expected = HTTPRequest(
            line: "POST /token?a=b HTTP/1.1",
            method: "POST",
            path: "/token",
            query: "a=b",
            fields: fields,
            body: Array("c=d".utf8)
        )
        #expect(reader.append([bytes[bytes.count - 1]]) == .complete(expected))
        var whole = HTTPRequestReader()
        #expect(whole.append(bytes) == .complete(expected))
    }
}
