import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("One request and its reply", .takesTurns, .endsHangs)
struct HTTPExchangeTests {
    /// The answer of an exchange, and when it comes.
    private final class Answer: Sendable {
        let hasCome = Event()
        private let outcome = Locked<HTTPExchange.Outcome?>(nil)

        func take(_ outcome: HTTPExchange.Outcome) {
            self.outcome.withLock { $0 = outcome }
            hasCome.happen()
        }

        var code: URLError.Code? {
            guard case .failure(let failure) = outcome.withLock({ $0 }) else { return nil }
            return (failure.cause as? URLError)?.code
        }

        var reply: HTTPReply? { outcome.withLock { try? $0?.get() } }
    }

    private func exchange(_ request: URLRequest, bodyLimit: Int = .max) -> (HTTPExchange, Answer) {
        let answer = Answer()
        return (HTTPExchange(request, bodyLimit: bodyLimit) { answer.take($0) }, answer)
    }

    private static func flood(_ connection: ScriptedConnection, _ hasBegun: Event, _ hasHungUp: Event) {
        connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        let piece = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 16)
        // A network is slower than memory, and on Linux nothing but a pause lets a client stop reading.
        while connection.trySend(piece) {
            hasBegun.happen()
            Thread.sleep(forTimeInterval: 0.001)
        }
        hasHungUp.happen()
    }

    @Test func `ends when the time of the configuration is over, though the body trickles, and hangs up`() async throws
    {
        let (hasBegun, hasHungUp) = (Event(), Event())
        try await withServer { connection, _ in
            Self.flood(connection, hasBegun, hasHungUp)
        } _: { server in
            let configuration = URLSessionConfiguration.keepingNothing
            configuration.timeoutIntervalForResource = 100
            let clock = ManualClock()
            let (exchange, answer) = exchange(URLRequest(url: try server.resource))
            exchange.start(over: HTTPConnections(configuration), by: clock)
            await hasBegun.wait()
            clock.advance(by: 99)
            #expect(!answer.hasCome.hasHappened)
            clock.advance(by: 1)
            await answer.hasCome.wait()
            #expect(answer.code == .timedOut)
            await hasHungUp.wait()
        }
    }

    /// Let go before it starts, before the reply begins, and in the middle of the body.
    @Test(arguments: 0...2) func `hangs up when its caller leaves`(moment: Int) async throws {
        let (gate, hasBegun, hasHungUp) = (Gate(), Event(), Event())
        try await withServer { connection, _ in
            gate.pass()
            Self.flood(connection, hasBegun, hasHungUp)
        } _: { server in
            let (exchange, answer) = exchange(URLRequest(url: try server.resource))
            let clock = ManualClock()
            if moment == 0 { exchange.abandon() }
            exchange.start(over: HTTPConnections(.keepingNothing), by: clock)
            if moment == 1 { await yieldUntil { server.requests.count == 1 } }
            if moment != 1 { gate.open() }
            if moment == 2 { await hasBegun.wait() }
            exchange.abandon()
            await answer.hasCome.wait()
            #expect(answer.code == .cancelled)
            #expect(clock.pendingTimers == 0)
            gate.open()
            if moment > 0 { await hasHungUp.wait() }
            #expect(server.requests.count == (moment == 0 ? 0 : 1))
        }
    }

    @Test func `is not sent if its caller leaves while it is signed`() async throws {
        try await withServer(replying: 200) { server in
            let answer = Answer()
            let leaving = Locked<HTTPExchange?>(nil)
            let leave = { @Sendable (_: inout URLRequest) in leaving.withLock { $0.take() }?.abandon() ?? () }
            let request = URLRequest(url: try server.resource)
            let signed = HTTPExchange(request, bodyLimit: 0, signing: leave) { answer.take($0) }
            leaving.withLock { $0 = signed }
            let connections = HTTPConnections(.keepingNothing)
            signed.start(over: connections)
            await answer.hasCome.wait()
            #expect(answer.code == .cancelled)
            let (next, reply) = exchange(request)
            next.start(over: connections)
            await reply.hasCome.wait()
            #expect(server.requests.count == 1)
        }
    }

    /// Somebody else may send the same refresh token from then on, and the session's own timer is an hour behind.
    @Test func `hangs up when its time is over, though no reply has begun`() async throws {
        let hasHungUp = Event()
        try await withServer { connection, _ in
            // The end of the stream.
            if connection.receive() == nil { hasHungUp.happen() }
        } _: { server in
            let configuration = URLSessionConfiguration.keepingNothing
            configuration.timeoutIntervalForRequest = 3600
            let clock = ManualClock()
            let (exchange, answer) = exchange(URLRequest(url: try server.resource))
            exchange.start(over: HTTPConnections(configuration, timeLimit: 100), by: clock)
            await yieldUntil { server.requests.count == 1 }
            clock.advance(by: 100)
            await answer.hasCome.wait()
            #expect(answer.code == .timedOut)
            await hasHungUp.wait()
        }
    }

    @Test(arguments: ["HEAD", "GET"])
    func `takes a length whose body does not come for no body that is too long`(method: String) async throws {
        let status = method == "HEAD" ? 200 : 304
        try await withServer { connection, _ in
            connection.send("HTTP/1.1 \(status) Reason\r\nContent-Length: 100000000\r\nConnection: close\r\n\r\n")
        } _: { server in
            var request = URLRequest(url: try server.resource)
            request.httpMethod = method
            let (exchange, answer) = exchange(request, bodyLimit: 100)
            exchange.start(over: HTTPConnections(.keepingNothing))
            await answer.hasCome.wait()
            #expect(answer.reply?.response.statusCode == status)
        }
    }

    @Test(arguments: [0.2, 0, -1, .infinity, .nan, .greatestFiniteMagnitude] as [TimeInterval])
    func `is neither over at once nor the end with a time-out that is no whole number of seconds`(
        seconds: TimeInterval
    ) async throws {
        try await withServer(replying: 200) { server in
            let configuration = URLSessionConfiguration.keepingNothing
            configuration.timeoutIntervalForRequest = seconds
            var request = URLRequest(url: try server.resource)
            for _ in 0..<2 {
                let (exchange, answer) = exchange(request)
                let start = ContinuousClock.now
                exchange.start(over: HTTPConnections(configuration))
                await answer.hasCome.wait()
                // A busy machine may need the whole second that is the shortest time-out.
                let isOver = seconds <= 1 && answer.code == .timedOut && .now - start > .seconds(0.9)
                #expect(answer.reply?.response.statusCode == 200 || isOver)
                request.timeoutInterval = seconds
            }
        }
    }

    @Test func `has no cache, which would answer the next user with what the former one has read`() {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
        #expect(HTTPConnections(configuration).configuration.urlCache == nil)
        #expect(configuration.urlCache != nil, "it is copied")
    }

    #if canImport(FoundationNetworking)
    @Test(arguments: [(1.5, 2), (2, 2), (2.001, 3), (0.2, 1)] as [(TimeInterval, TimeInterval)])
    func `rounds a time-out with a fraction of a second up`(seconds: TimeInterval, whole: TimeInterval) throws {
        var request = URLRequest(url: try Nobody.url)
        request.timeoutInterval = seconds
        let task = HTTPConnections(.keepingNothing).start(request, reportingTo: exchange(request).0)
        #expect(task.originalRequest?.timeoutInterval == whole)
    }

    @Test func `waits for a place, and makes room for the next one when its caller leaves`() async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            gate.pass()
        } _: { server in
            let configuration = URLSessionConfiguration.keepingNothing
            configuration.httpMaximumConnectionsPerHost = 2
            let connections = HTTPConnections(configuration)
            let request = URLRequest(url: try server.resource)
            let exchanges = (0..<4).map { _ in exchange(request) }
            for (exchange, _) in exchanges { exchange.start(over: connections) }
            await yieldUntil { server.requests.count == 2 }
            // The server is silent: both connections stay open, and no caller waits for one of them any more.
            exchanges[0].0.abandon()
            await yieldUntil { server.requests.count == 3 }
            #expect(server.requests.count == 3)
            for _ in 0..<4 { gate.open() }
            for (_, answer) in exchanges { await answer.hasCome.wait() }
        }
    }
    #endif

    @Test func `gives places in the order of asking, and ends a long line of those that give up at once`() async {
        let gate = ConnectionGate(limit: 2)
        let entered = Locked<[Int: ConnectionGate.Place]>([:])
        for name in 0..<4 { gate.enter { place in entered.withLock { $0[name] = place } } }
        #expect(Set(entered.withLock { $0.keys }) == [0, 1])
        for name in 0..<2 {
            entered.withLock { $0[name] = nil }
            await yieldUntil { entered.withLock { $0[name + 2] != nil } }
            #expect(entered.withLock { $0.count } == 2)
        }
        let passed = Locked(0)
        for _ in 0..<5000 { gate.enter { _ in passed.withLock { $0 += 1 } } }
        #expect(passed.withLock { $0 } == 0)
        entered.withLock { $0 = [:] }
        await yieldUntil { passed.withLock { $0 } == 5000 }
    }
}
