import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

/// What `URLSession` does on Linux if it is left to itself, each provoked by a server on a raw socket.
@Suite("Pitfalls of URLSession", .eightAtATime, .timeLimit(.minutes(10)))
struct PitfallTests {
    private func exchange(_ script: @escaping ScriptedServer.Script) async throws -> (OAuthError?, Int) {
        try await withServer(script) { server in
            do {
                _ = try await server.endpoint().exchange(.refreshToken("RT0"))
                return (nil, server.requests.count)
            } catch {
                return (error as? OAuthError, server.requests.count)
            }
        }
    }

    @Test(arguments: [#"Basic realm="as""#, #"Digest realm="as", nonce="n", qop="auth""#, "Bearer", "Negotiate"])
    func `a 401 with a challenge does not hang`(challenge: String) async throws {
        let (error, requests) = try await exchange { connection, _ in
            connection.reply(401, #"{"error":"invalid_client"}"#, fields: ["WWW-Authenticate": challenge])
        }
        #expect(error == .refused("invalid_client"))
        #expect(requests == 1)
    }

    @Test func `cancelling callers while the connection is refused harms nobody`() async throws {
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let caller = Task { try await endpoint.exchange(.refreshToken("RT0")) }
                    if number.isMultiple(of: 2) { await Task.yield() }
                    caller.cancel()
                    await #expect(throws: OAuthError.unreachable(code: URLError.Code.cannotConnectToHost.rawValue)) {
                        try await caller.valueInTime
                    }
                }
            }
        }
    }

    @Test func `a host that does not exist is unreachable, and nothing was sent`() async throws {
        let url = try #require(URL(string: "https://no-such-host.invalid/token"))
        let endpoint = TokenEndpoint(url, authentication: .none(clientID: "app"))
        do {
            _ = try await endpoint.exchange(.refreshToken("RT0"))
            Issue.record("there is no such host")
        } catch let error as OAuthError {
            #expect(error.isTransient)
            #expect(!error.mayHaveBeenCarriedOut)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is not followed, neither there nor elsewhere`(status: Int) async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A1"))
        } _: { target in
            let location = try target.url.absoluteString
            let (error, requests) = try await exchange { connection, _ in
                connection.reply(status, "", fields: ["Location": location])
            }
            #expect(error == .redirected(status: status))
            #expect(requests == 1)
            #expect(target.requests.isEmpty)
        }
    }

    @Test func `a connection is not used again, so that none can die between two requests`() async throws {
        try await withServer { connection, request in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(tokens("A").utf8.count)\r\n\r\n\(tokens("A"))")
            // A second request here would get half of a reply.
            if connection.receive() != nil { connection.send("HTTP/1.1 200 OK\r\n") }
        } _: { server in
            let endpoint = try server.endpoint()
            for _ in 0..<3 { _ = try await endpoint.exchange(.refreshToken("RT0")) }
            #expect(server.requests.count == 3)
            #expect(server.requests.allSatisfy { $0.body.hasPrefix("grant_type=refresh_token&") })
        }
    }

    @Test func `a body without end is not read on`() async throws {
        let hasHungUp = Event()
        let (error, _) = try await exchange { connection, _ in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            let piece = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 18)
            // A network is slower than memory, and on Linux nothing but a pause lets a client stop reading.
            for _ in 0..<20_000 {
                guard connection.trySend(piece) else { return hasHungUp.happen() }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
        #expect(error == .bodyTooLong)
        #expect(hasHungUp.hasHappened)
    }

    @Test func `a body that says that it is too long is not read at all`() async throws {
        let hasHungUp = Event()
        let (error, _) = try await exchange { connection, _ in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\nConnection: close\r\n\r\n")
            connection.waitUntilClosed()
            hasHungUp.happen()
        }
        #expect(error == .bodyTooLong)
        await hasHungUp.wait()
    }

    @Test func `a body that grows when it is unpacked is not unpacked to its end`() async throws {
        let (error, _) = try await exchange { connection, _ in
            connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n")
            _ = connection.trySend(GzipBomb.bytes(growingTo: 256 << 20))
        }
        #expect(error == .bodyTooLong)
    }

    @Test(arguments: [(0, nil), (1, .bodyTooLong)] as [(Int, OAuthError?)])
    func `a megabyte is read, and not a byte more`(excess: Int, expected: OAuthError?) async throws {
        let (error, _) = try await exchange { connection, _ in
            let body = tokens("A1")
            let padding = String(repeating: " ", count: (1 << 20) - body.utf8.count + excess)
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body + padding)
        }
        #expect(error == expected)
    }

    @Test func `line breaks in a secret reach the server as they are, and no header is lost`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A1"))
        } _: { server in
            let endpoint = try server.endpoint(authentication: .basicRaw(clientID: "app", secret: "a\r\nb\u{0}"))
            _ = try await endpoint.exchange(.refreshToken("R\r\nT"))
            let request = try #require(server.requests.first)
            let expected = "Basic " + Data("app:a\r\nb\u{0}".utf8).base64EncodedString()
            #expect(request.fields["authorization"] == expected)
            #expect(request.body == "grant_type=refresh_token&refresh_token=R%0D%0AT")
        }
    }

    @Test func `a cookie is not sent back`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A1"), fields: ["Set-Cookie": "session=1; Path=/"])
        } _: { server in
            let endpoint = try server.endpoint()
            for _ in 0..<2 { _ = try await endpoint.exchange(.refreshToken("RT0")) }
            #expect(server.requests.map { $0.fields["cookie"] } == [nil, nil])
        }
    }

    @Test func `a reply that may be stored is not answered from a store`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A\(connection.number)"), fields: ["Cache-Control": "max-age=3600"])
        } _: { server in
            let endpoint = try server.endpoint()
            for number in 1...2 {
                #expect(try await endpoint.exchange(.refreshToken("RT0")).accessToken.value == "A\(number)")
            }
        }
    }

    @Test func `a connection that is dropped after the request is lost, and the request may have been carried out`()
        async throws
    {
        let (error, requests) = try await exchange { _, _ in }
        #expect(error?.isTransient == true)
        #expect(error?.mayHaveBeenCarriedOut == true)
        #expect(requests == 1)
    }

    @Test func `a body that ends too early is lost, whatever it looks like`() async throws {
        let (error, _) = try await exchange { connection, _ in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n\(tokens("A1"))")
        }
        #expect(error?.mayHaveBeenCarriedOut == true)
    }

    @Test func `what is not HTTP is an error`() async throws {
        let (error, _) = try await exchange { connection, _ in connection.send("SSH-2.0-OpenSSH\r\n") }
        #expect(error != nil)
    }
}

/// A gzip stream that grows to many times its size: zeros, as runs of 258 (RFC 1951, section 3.2.6).
///
/// Its checksum is missing: nobody should come that far.
enum GzipBomb {
    static func bytes(growingTo count: Int) -> [UInt8] {
        var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        var (bits, used) = (UInt64(0), 0)
        func append(_ value: UInt64, _ width: Int) {
            bits |= value << UInt64(used)
            used += width
            while used >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
                used -= 8
            }
        }
        append(0b011, 3)
        // The literal 0, then as often: length 258, distance 1. Huffman codes come with their first bit first.
        append(0b0000_1100, 8)
        for _ in 0..<(count / 258) { append(0b00000_10100011, 13) }
        append(0, 16)
        return bytes
    }
}
