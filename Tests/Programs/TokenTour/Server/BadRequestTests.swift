import Foundation
import TestSupport
import Testing

@testable import LoopbackAuthorizationServer

@Suite("The server survives every request", .eightAtATime, .timeLimit(.minutes(10)))
struct BadRequestTests {
    static let garbage: [String: [UInt8]] = [
        "an empty head": Array("\r\n\r\n".utf8),
        "a word": Array("GET\r\n\r\n".utf8),
        "no version": Array("GET /resource\r\n\r\n".utf8),
        "another protocol": Array("GET /resource SPDY/3\r\n\r\n".utf8),
        "a target that is no path": Array("GET resource HTTP/1.1\r\n\r\n".utf8),
        "a field without a colon": Array("GET /resource HTTP/1.1\r\nnonsense\r\n\r\n".utf8),
        "a field without a name": Array("GET /resource HTTP/1.1\r\n: x\r\n\r\n".utf8),
        "a folded field": Array("GET /resource HTTP/1.1\r\nA: b\r\n c: d\r\n\r\n".utf8),
        "a control character": Array("GET /resource HTTP/1.1\r\nA: \u{1}\r\n\r\n".utf8),
        "a NUL": Array("GET /re\0source HTTP/1.1\r\n\r\n".utf8),
        "a negative length": Array("POST /token HTTP/1.1\r\nContent-Length: -1\r\n\r\n".utf8),
        "a length with a sign": Array("POST /token HTTP/1.1\r\nContent-Length: +1\r\n\r\na".utf8),
        "no number as length": Array("POST /token HTTP/1.1\r\nContent-Length: many\r\n\r\n".utf8),
        "an endless length": Array("POST /token HTTP/1.1\r\nContent-Length: \(Int.max)\r\n\r\n".utf8),
        "a length beyond all integers": Array(
            "POST /token HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n".utf8
        ),
        "two lengths": Array(
            "POST /token HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab".utf8
        ),
        "chunks": Array("POST /token HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".utf8),
        "a greeting in TLS": [22, 3, 1, 0, 5, 1, 0, 0, 1, 3, 13, 10, 13, 10],
        "bytes that are no text": Array(repeating: 0xFF, count: 512) + Array("\r\n\r\n".utf8),
        "a head without an end": Array(repeating: UInt8(ascii: "a"), count: 20_000),
        "two tokens": Array("GET /resource HTTP/1.1\r\nAuthorization: Bearer a b\r\n\r\n".utf8),
        "another scheme": Array("GET /resource HTTP/1.1\r\nAuthorization: Basic YTpi\r\n\r\n".utf8),
    ]

    @Test("Garbage is answered with 400, and the next request is served", arguments: Self.garbage.keys.sorted())
    func answersGarbage(_ name: String) async throws {
        try await withServer { server in
            let pair = server.signIn()
            let answer = try server.answer(to: try #require(Self.garbage[name]))
            #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(server.tally.tokenRequests == 0)
            #expect(try await server.status(for: pair.accessToken) == 200)
        }
    }

    static let forms: [String: String] = [
        "grant_type": "invalid_client",
        "": "invalid_client",
        "client_id=somebody&grant_type=refresh_token&refresh_token=a": "invalid_client",
        "%zz=1": "invalid_request",
        "grant_type=%": "invalid_request",
        "grant_type=%F": "invalid_request",
        "grant_type=%FF": "invalid_request",
        "grant_type=a&grant_type=a": "invalid_request",
        "client_id=loopback-client&refresh_token=a": "invalid_request",
        "client_id=loopback-client&grant_type=refresh_token": "invalid_request",
        "client_id=loopback-client&grant_type=refresh_token&refresh_token=": "invalid_request",
        "client_id=loopback-client&grant_type=password&username=a": "unsupported_grant_type",
        "client_id=loopback-client&grant_type=refresh_token&refresh_token=a": "invalid_grant",
    ]

    @Test("A form is refused with the code of RFC 6749, section 5.2", arguments: Self.forms.keys.sorted())
    func refusesForm(_ body: String) async throws {
        try await withServer { server in
            let code = try #require(Self.forms[body])
            let answer = try server.answer(
                to: "POST /token HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            #expect(answer.hasPrefix("HTTP/1.1 \(code == "invalid_client" ? 401 : 400) "))
            #expect(answer.hasSuffix(#"{"error":"\#(code)"}"#))
        }
    }

    @Test("A body of another media type is an invalid request, even if it looks like a form")
    func noForm() async throws {
        try await withServer { server in
            let pair = server.signIn()
            let body = "client_id=loopback-client&grant_type=refresh_token&refresh_token=a"
            let answer = try server.answer(
                to: "POST /token HTTP/1.1\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            #expect(answer.hasSuffix(#"{"error":"invalid_request"}"#))
            #expect(try await server.status(for: pair.accessToken) == 200)
        }
    }

    @Test("Other paths and methods are refused with a status of their own")
    func routes() async throws {
        try await withServer { server throws in
            #expect(try server.answer(to: "GET / HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 404 "))
            #expect(try server.answer(to: "GET /token HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 405 "))
            #expect(try server.answer(to: "DELETE /resource HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 405 "))
        }
    }

    @Test("A client that closes in the middle of a request disturbs no other client")
    func leaving() async throws {
        try await withServer { server throws in
            let pair = server.signIn()
            for part in ["", "POST /tok", "POST /token HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf"] {
                #expect(try server.answer(to: part).isEmpty)
            }
            #expect(try await server.status(for: pair.accessToken) == 200)
            #expect(server.tally.tokenRequests == 0)
        }
    }

    @Test("A client that closes before its answer does not end the process")
    func notStaying() async throws {
        let held = HeldAnswer()
        try await withServer(onEvent: held.observe) { server throws in
            let connection = try RawConnection(toPort: server.port)
            connection.send(Array("POST /token HTTP/1.1\r\n\r\n".utf8))
            await held.requestHasArrived()
            connection.reset()
            held.release()
            #expect(try server.answer(to: "GET / HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 404 "))
        }
    }

    @Test("A request is the same in one piece and byte by byte")
    func pieces() throws {
        let bytes = Array("POST /token?a=b HTTP/1.1\r\nContent-Length: 3\r\nX-A:  b \r\n\r\nc=d".utf8)
        var reader = HTTPRequestReader()
        for byte in bytes.dropLast() {
            #expect(reader.append([byte]) == .incomplete)
        }
        let expected = HTTPRequest(
            method: "POST",
            path: "/token",
            fields: ["content-length": ["3"], "x-a": ["b"]],
            body: Array("c=d".utf8)
        )
        #expect(reader.append([bytes[bytes.count - 1]]) == .complete(expected))
        var whole = HTTPRequestReader()
        #expect(whole.append(bytes) == .complete(expected))
    }
}
