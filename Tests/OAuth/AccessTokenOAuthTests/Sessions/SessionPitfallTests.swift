import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What `URLSession` does on Linux if it is left to itself; more of it is in the suites of what sessions do.
@Suite("Pitfalls of URLSession that sessions avoid", .eightAtATime, .timeLimit(.minutes(10)))
struct SessionPitfallTests {
    private func session(
        _ server: ScriptedServer,
        _ configuration: URLSessionConfiguration = .keepingNothing
    ) throws -> AsyncBearerSession {
        AsyncBearerSession(
            tokens: SampleTokens.service().0,
            origins: [try server.url],
            configuration: configuration
        )
    }

    @Test func `a body that trickles for ever ends when the resource's time is over`() async throws {
        let hasHungUp = Event()
        try await withServer { connection, _ in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            while connection.trySend([0x20]) { Thread.sleep(forTimeInterval: 0.001) }
            hasHungUp.happen()
        } _: { server in
            let configuration = URLSessionConfiguration.keepingNothing
            configuration.timeoutIntervalForResource = 100
            let clock = ManualClock()
            let exchange = HTTPExchange(URLRequest(url: try server.resource), to: .memory(limit: .max))
            let answered = Event()
            let code = Locked<URLError.Code?>(nil)
            exchange.start(over: HTTPConnections(configuration), by: clock) { result in
                // The head of the reply may be there by then, or not.
                let failure: (any Error)? =
                    switch result {
                    case .success(let reply): reply.failure
                    case .failure(let error): error
                    }
                code.withLock { $0 = (failure as? URLError)?.code }
                answered.happen()
            }
            await yieldUntil { server.requests.count == 1 }
            clock.advance(by: 99)
            #expect(!answered.hasHappened)
            clock.advance(by: 1)
            await answered.wait()
            #expect(code.withLock { $0 } == .timedOut)
            await hasHungUp.wait()
        }
    }

    @Test func `an exchange that is over leaves no timer`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let clock = ManualClock()
            let answered = Event()
            let exchange = HTTPExchange(URLRequest(url: try server.resource), to: .memory(limit: .max))
            exchange.start(over: HTTPConnections(.keepingNothing), by: clock) { _ in answered.happen() }
            await answered.wait()
            await yieldUntil { clock.pendingTimers == 0 }
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test(arguments: [0.2, 0, -1, .infinity, .nan, .greatestFiniteMagnitude] as [TimeInterval])
    func `a time-out that is no whole number of seconds is neither over at once nor the end`(
        seconds: TimeInterval
    ) async throws {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let configuration = URLSessionConfiguration.keepingNothing
            configuration.timeoutIntervalForRequest = seconds
            let session = try session(server, configuration)
            var request = URLRequest(url: try server.resource)
            #expect(try await session.data(for: request).1.status == 200)
            request.timeoutInterval = seconds
            #expect(try await session.data(for: request).1.status == 200)
        }
    }

    #if canImport(FoundationNetworking)
    @Test(arguments: [(1.5, 2), (2, 2), (2.001, 3), (0.2, 1)] as [(TimeInterval, TimeInterval)])
    func `a time-out with a fraction of a second is rounded up`(seconds: TimeInterval, whole: TimeInterval) throws {
        var request = URLRequest(url: try Nobody.url)
        request.timeoutInterval = seconds
        let exchange = HTTPExchange(request, to: .memory(limit: 0))
        let connections = HTTPConnections(.keepingNothing)
        let task = try connections.start(request, uploading: .ofRequest, reportingTo: exchange)
        #expect(task.originalRequest?.timeoutInterval == whole)
    }
    #endif

    @Test func `a session's own time-out is the one that counts`() async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            gate.pass()
        } _: { server in
            let configuration = URLSessionConfiguration.keepingNothing
            configuration.timeoutIntervalForRequest = 1
            let session = try session(server, configuration)
            let error = await #expect(throws: URLError.self) { try await session.data(from: try server.resource) }
            #expect(error?.code == .timedOut)
            gate.open()
        }
    }

    @Test func `sessions with configurations of their own share one service`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let (service, loader) = SampleTokens.service()
            for (kind, name) in [(SessionKind.async, "friends"), (.callback, "pictures")] {
                let configuration = URLSessionConfiguration.keepingNothing
                configuration.httpAdditionalHeaders = ["X-Module": name]
                let session = kind.session(service, origins: [try server.url], configuration: configuration)
                // It was copied.
                configuration.httpAdditionalHeaders = ["X-Module": "changed"]
                _ = try await session.data(for: URLRequest(url: try server.resource))
            }
            #expect(server.requests.map { $0.fields["x-module"] } == ["friends", "pictures"])
            #expect(loader.loads == 1)
        }
    }

    @Test func `a cookie is not sent back, unless the configuration keeps them`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, "", fields: ["Set-Cookie": "session=1; Path=/"])
        } _: { server in
            let keeping = try session(server, .ephemeral)
            let own = try session(server)
            for session in [own, keeping] {
                for _ in 0..<2 { _ = try await session.data(from: try server.resource) }
            }
            #expect(server.requests.map { $0.fields["cookie"] } == [nil, nil, nil, "session=1"])
        }
    }

    @Test func `a connection is not used again, so that none can die between two requests`() async throws {
        try await withServer { connection, _ in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            // A second request here would get half of a reply.
            if connection.receive() != nil { connection.send("HTTP/1.1 200 OK\r\n") }
        } _: { server in
            let session = try session(server)
            var request = URLRequest(url: try server.resource)
            request.httpMethod = "PUT"
            for _ in 0..<3 { _ = try await session.upload(for: request, from: Data("body".utf8)) }
            #expect(server.requests.map(\.body) == ["body", "body", "body"])
        }
    }

    @Test func `a connection that is refused, dropped or cut short is an error of URLSession's`() async throws {
        let lonely = AsyncBearerSession(tokens: SampleTokens.service().0, origins: [try Nobody.url])
        let error = await #expect(throws: URLError.self) { try await lonely.data(from: try Nobody.url) }
        #expect(error?.code == .cannotConnectToHost)
        try await withServer { connection, _ in
            if connection.number == 2 { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx") }
        } _: { server in
            for _ in 0..<2 {
                await #expect(throws: URLError.self) { try await session(server).data(from: try server.resource) }
            }
            #expect(server.requests.count == 2)
        }
    }
}
