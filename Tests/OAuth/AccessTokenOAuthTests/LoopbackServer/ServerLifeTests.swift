import TestSupport
import Testing

@testable import LoopbackAuthorizationServer
@testable import OAuthFoundation

@Suite("The loopback server starts and stops cleanly", .takesTurns, .endsHangs)
struct ServerLifeTests {
    private static let request = "GET / HTTP/1.1\r\n\r\n"

    /// A server that was stopped, and the next one on its port; `nil` if another program has got the port in between.
    private func stoppedAndNext() throws -> (stopped: RotatingAuthorizationServer, next: RotatingAuthorizationServer)? {
        let server = try RotatingAuthorizationServer()
        let port = server.port
        // The server closes this connection first, and its port stays in use for a while.
        let connection = try SocketDescriptor.connected(toPort: port)
        connection.send(Self.request)
        #expect(connection.rest().hasPrefix("HTTP/1.1 404 "))
        server.stop()
        if let other = try? SocketDescriptor.connected(toPort: port) {
            other.close()
            return nil
        }
        return (try? RotatingAuthorizationServer(port: port)).map { (server, $0) }
    }

    @Test func `a stopped server frees its port, and to stop it again does not touch the next one`() async throws {
        let pairs = try (0..<3).lazy.compactMap { _ in try stoppedAndNext() }
        let (server, next) = try #require(pairs.first)
        defer { next.stop() }
        let port = server.port
        #expect(next.port == port)
        let connections = try (0..<8).map { _ in try SocketDescriptor.connected(toPort: port) }
        server.stop()
        for connection in connections {
            connection.send(Self.request)
            #expect(connection.finish().hasPrefix("HTTP/1.1 404 "))
        }
    }

    @Test func `a port that is in use is an error, and the other server goes on`() async throws {
        try await withRotatingServer { server throws in
            let error = #expect(throws: SocketError.self) { try RotatingAuthorizationServer(port: server.port) }
            #expect(error?.call == "bind")
            #expect(try server.answer(to: Self.request).hasPrefix("HTTP/1.1 404 "))
        }
    }

    @Test func `a stop lets the answers under way be sent, and does not wait for a silent client`() async throws {
        let events = AsyncStream.makeStream(of: AuthorizationServerEvent.self)
        let server = try RotatingAuthorizationServer(latency: 0.2) { events.continuation.yield($0) }
        let silent = try SocketDescriptor.connected(toPort: server.port)
        // Connections are accepted one after the other: by this answer the silent one has its thread.
        _ = try server.answer(to: Self.request)
        let connection = try SocketDescriptor.connected(toPort: server.port)
        connection.send("POST /token HTTP/1.1\r\n\r\n")
        for await event in events.stream where event == .tokenRequested(nil) { break }
        server.stop()
        #expect(connection.rest().hasPrefix("HTTP/1.1 400 "))
        #expect(silent.rest().isEmpty)
    }

    @Test func `descriptions and events never contain the value of a token`() async throws {
        let events = AsyncStream.makeStream(of: AuthorizationServerEvent.self)
        try await withRotatingServer(onEvent: { events.continuation.yield($0) }) { server in
            let pair = server.signIn()
            let next = try server.exchange(pair.refreshToken)
            _ = try server.exchange(pair.refreshToken)
            _ = try server.serves(pair.accessToken)
            events.continuation.finish()
            var texts = ["\(pair)", String(reflecting: pair)]
            for await event in events.stream { texts.append(String(reflecting: event)) }
            #expect(texts.count == 2 + 8)
            for secret in [pair.accessToken, pair.refreshToken, next.access_token, next.refresh_token].compactMap(
                \.self
            ) {
                #expect(!texts.contains { $0.contains(secret) })
            }
        }
    }
}
