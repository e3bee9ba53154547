import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("An exchange with the token endpoint", .timeLimit(.minutes(2)))
struct ExchangeTests {
    @Test func `a reply brings tokens, and the endpoint's own query is kept`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A1", "RT1"))
        } _: { server in
            let url = try #require(URL(string: try server.url.absoluteString + "?tenant=a%2Bb"))
            let clock = ManualClock()
            let endpoint = TokenEndpoint(url, authentication: .none(clientID: "app"), clock: clock)
            let response = try await endpoint.exchange(.refreshToken("RT0"))
            let token = AccessToken(value: "A1", expiration: clock.now.addingTimeInterval(3600))
            #expect(response == TokenResponse(accessToken: token, refreshToken: "RT1"))
            #expect(server.requests.map(\.line) == ["POST /token?tenant=a%2Bb HTTP/1.1"])
        }
    }

    @Test func `callback code gets the same`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A1"))
        } _: { server in
            let endpoint = try server.endpoint()
            let result = await withCheckedContinuation { continuation in
                exchangeAsLegacyCode(endpoint) { continuation.resume(returning: $0) }
            }
            #expect(try result.get().accessToken.value == "A1")
        }
    }

    /// In an async function the compiler would suggest the other one.
    private func exchangeAsLegacyCode(
        _ endpoint: TokenEndpoint,
        then handler: @escaping @Sendable (Result<TokenResponse, any Error>) -> Void
    ) {
        endpoint.exchange(.refreshToken("RT0"), then: handler)
    }

    @Test func `a deadline ends the wait and not the exchange, and what comes late is rescued`() async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            // Byte by byte, since only silence counts for the time-outs of URLSession.
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{")
            gate.pass()
            connection.send(String(tokens("A1", "RT1").dropFirst()))
        } _: { server in
            let clock = ManualClock()
            let rescued = Locked<[String]>([])
            let isRescued = Event()
            let endpoint = try server.endpoint(clock: clock)
            let caller = Task {
                try await endpoint.exchange(.refreshToken("RT0")) { token in
                    rescued.withLock { $0.append(token) }
                    isRescued.happen()
                }
            }
            await yieldUntil { clock.pendingTimers == 1 && server.requests.count == 1 }
            clock.advance(by: 29)
            #expect(clock.pendingTimers == 1)
            clock.advance(by: 1)
            await #expect(throws: OAuthError.timedOut) { try await caller.value }
            #expect(!isRescued.hasHappened)
            gate.open()
            await isRescued.wait()
            #expect(rescued.withLock { $0 } == ["RT1"])
        }
    }

    @Test func `a reply that is faster than whoever is going to wait for it is not late`() async {
        let lateness = Locked<[Bool]>([])
        let exchange = OutstandingExchange<Int> { _, isLate in lateness.withLock { $0.append(isLate) } }
        exchange.settle(1)
        exchange.settle(2)
        #expect(await exchange.reply(within: 1, by: ManualClock()) == 1)
        #expect(lateness.withLock { $0 } == [false])
    }

    @Test func `a reply in time leaves no timer, and rescues only what it cannot hand out`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, connection.number == 1 ? tokens("A1", "RT1") : tokens("not a token", "RT2"))
        } _: { server in
            let clock = ManualClock()
            let rescued = Locked<[String]>([])
            let endpoint = try server.endpoint(clock: clock)
            _ = try await endpoint.exchange(.refreshToken("RT0")) { token in rescued.withLock { $0.append(token) } }
            #expect(clock.pendingTimers == 0)
            #expect(rescued.withLock { $0 }.isEmpty)
            await #expect(throws: OAuthError.self) {
                try await endpoint.exchange(.refreshToken("RT1")) { token in rescued.withLock { $0.append(token) } }
            }
            #expect(rescued.withLock { $0 } == ["RT2"])
        }
    }

    @Test(arguments: [(-1, 30), (0, 30), (.nan, 30), (.infinity, 3600), (5, 5)] as [(TimeInterval, TimeInterval)])
    func `a deadline that makes no sense is corrected`(given: TimeInterval, used: TimeInterval) throws {
        let url = try #require(URL(string: "https://example.com"))
        #expect(TokenEndpoint(url, authentication: .none(clientID: "app"), deadline: given).deadline == used)
    }

    @Test(arguments: ["http://example.com/token", "http://127.example.com/", "ftp://127.example.com"])
    func `secrets are not sent where everybody can read them`(url: String) async throws {
        let endpoint = TokenEndpoint(try #require(URL(string: url)), authentication: .none(clientID: "app"))
        await #expect(throws: OAuthError.insecureEndpoint) { try await endpoint.exchange(.refreshToken("RT0")) }
    }

    @Test func `a cancelled caller does not cancel what was sent`() async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            gate.pass()
            connection.reply(200, tokens("A1", "RT1"))
        } _: { server in
            let endpoint = try server.endpoint()
            let caller = Task { try await endpoint.exchange(.refreshToken("RT0")) }
            await yieldUntil { server.requests.count == 1 }
            caller.cancel()
            gate.open()
            #expect(try await caller.value.refreshToken == "RT1")
        }
    }

    @Test func `two hundred exchanges at once each get their own reply`() async throws {
        try await withServer { connection, request in
            let token = request.body.split(separator: "&")[1].split(separator: "=")[1]
            connection.reply(200, tokens("for-\(token)"))
        } _: { server in
            let endpoint = try server.endpoint()
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        try await endpoint.exchange(.refreshToken("\(number)")).accessToken.value == "for-\(number)"
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            #expect(server.requests.count == 200)
        }
    }
}
