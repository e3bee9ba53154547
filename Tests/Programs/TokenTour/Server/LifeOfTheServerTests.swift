import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import TokenTour

@Suite("The server starts and stops cleanly", .eightAtATime, .timeLimit(.minutes(10)))
struct LifeOfTheServerTests {
    @Test("Two hundred requests at the same moment are two hundred answers")
    func parallelRequests() async throws {
        // Long enough for all of them to be there before the first one is answered.
        try await withServer(latency: 0.2) { server in
            let pairs = (0..<200).map { _ in server.signIn() }
            let served = try await withThrowingTaskGroup(of: Int.self) { group in
                for pair in pairs {
                    group.addTask { try await server.exchange(pair.refreshToken).status }
                }
                return try await group.reduce(0) { count, status in count + (status == 200 ? 1 : 0) }
            }
            #expect(served == 200)
            #expect(server.tally.tokenRequests == 200)
            #expect(server.tally.revokedFamilies == 0)
        }
    }

    @Test("A stopped server does not listen, and its port is free")
    func stop() async throws {
        let server = try RotatingAuthorizationServer()
        let port = server.port
        // The server closes this connection first, so that its port stays in use for a while.
        let connection = try RawConnection(toPort: port)
        connection.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        #expect(connection.rest().hasPrefix("HTTP/1.1 404 "))
        server.stop()
        #expect(throws: SocketError.self) { try RawConnection(toPort: port) }

        let next = try RotatingAuthorizationServer(port: port)
        #expect(next.port == port)
        #expect(try next.answer(to: "GET / HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 404 "))
        next.stop()
    }

    @Test("Stopping a second time does not close the descriptors of another server")
    func stopTwice() async throws {
        let stopped = try RotatingAuthorizationServer()
        stopped.stop()
        try await withServer { server throws in
            let connections = try (0..<8).map { _ in try RawConnection(toPort: server.port) }
            stopped.stop()
            for connection in connections {
                connection.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
                #expect(connection.finish().hasPrefix("HTTP/1.1 404 "))
            }
        }
    }

    @Test("A port that is in use is an error, and the other server goes on")
    func takenPort() async throws {
        try await withServer { server throws in
            let error = #expect(throws: SocketError.self) {
                try RotatingAuthorizationServer(port: server.port)
            }
            #expect(error?.call == "bind")
            #expect(try server.answer(to: "GET / HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 404 "))
        }
    }

    @Test("Port 0 gives every server a port of its own")
    func anyPort() async throws {
        try await withServer { one in
            try await withServer { other in
                #expect(one.port != 0)
                #expect(one.port != other.port)
            }
        }
    }

    @Test("A server that stops still sends the answer to a request that it has received")
    func answerUnderWay() async throws {
        let events = AsyncStream.makeStream(of: AuthorizationServerEvent.self)
        let server = try RotatingAuthorizationServer(latency: 0.2) { events.continuation.yield($0) }
        let pair = server.signIn()
        async let answer = server.exchange(pair.refreshToken)
        var received = events.stream.makeAsyncIterator()
        #expect(await received.next() == .tokenRequested(pair.refreshName))
        server.stop()
        #expect(try await answer.status == 200)
    }

    @Test("The server stops although a client is silent")
    func silentClient() throws {
        let server = try RotatingAuthorizationServer()
        let silent = try RawConnection(toPort: server.port)
        // Connections are accepted one after the other: by this answer the silent one has its thread.
        _ = try server.answer(to: "GET / HTTP/1.1\r\n\r\n")
        server.stop()
        #expect(silent.rest().isEmpty)
    }

    @Test("Descriptions and events of the server never contain the value of a token")
    func noSecrets() async throws {
        let events = AsyncStream.makeStream(of: AuthorizationServerEvent.self)
        try await withServer(onEvent: { events.continuation.yield($0) }) { server in
            let pair = server.signIn()
            let next = try await server.exchange(pair.refreshToken).reply
            _ = try await server.exchange(pair.refreshToken)
            _ = try await server.status(for: pair.accessToken)
            events.continuation.finish()
            var texts = ["\(pair)", String(reflecting: pair)]
            for await event in events.stream {
                texts.append(String(reflecting: event))
            }
            #expect(texts.count == 2 + 8)
            let secrets = [pair.accessToken, pair.refreshToken, next.access_token, next.refresh_token]
            for secret in secrets.compactMap(\.self) {
                #expect(!texts.contains { $0.contains(secret) })
            }
        }
    }
}
