import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An exchange with the token endpoint", .takesTurns, .endsHangs)
struct ExchangeTests {
    @Test func `a reply brings tokens, to callback code as well, and leaves no timer; the endpoint's query is kept`()
        async throws
    {
        try await withServer(replying: 200, tokens("A1", "RT1")) { server in
            let url = try #require(URL(string: try server.url.absoluteString + "?tenant=a%2Bb"))
            let clock = ManualClock()
            let endpoint = TokenEndpoint(url, authentication: .none(clientID: "app"), clock: clock)
            let token = AccessToken(value: "A1", expiration: clock.now.addingTimeInterval(3600))
            let expected = TokenResponse(accessToken: token, refreshToken: "RT1")
            #expect(try await endpoint.exchange(.refreshToken("RT0")) == expected)
            #expect(try await told { endpoint.exchange(.refreshToken("RT0"), then: $0) }.get() == expected)
            #expect(server.requests.map(\.line) == Array(repeating: "POST /token?tenant=a%2Bb HTTP/1.1", count: 2))
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test func `an app can know what its server means by a reply without a word`() async throws {
        try await withServer(replying: 400) { server in
            var endpoint = try server.endpoint()
            endpoint.failureMapping = { $0.status == 400 && $0.body.isEmpty ? .refused("invalid_grant") : nil }
            await #expect(throws: OAuthError.refused("invalid_grant")) {
                try await endpoint.exchange(.refreshToken("RT0"))
            }
        }
    }

    @Test func `a deadline ends the wait`() async throws {
        let gate = Gate()
        try await withServer { _, _ in
            gate.pass()
        } _: { server in
            let clock = ManualClock()
            let endpoint = try server.endpoint(clock: clock)
            let caller = Task { try await endpoint.exchange(.refreshToken("RT0")) }
            await yieldUntil { clock.pendingTimers == 1 && server.requests.count == 1 }
            clock.advance(by: 29)
            #expect(clock.pendingTimers == 1)
            clock.advance(by: 1)
            await #expect(throws: OAuthError.timedOut) { try await caller.valueInTime }
            gate.open()
        }
    }

    /// A code cannot be exchanged again: the tokens of a reply that nobody reads are lost.
    @Test func `a process that was stopped past the deadline reads a reply that came meanwhile`() async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            gate.pass()
            connection.reply(200, tokens("A1", "RT1"))
        } _: { server in
            let clock = ClockOfStoppedProcess(now: .now)
            let endpoint = try server.endpoint(clock: clock)
            let caller = Task { try await endpoint.exchange(.refreshToken("RT0")) }
            await yieldUntil { clock.pendingTimers == 1 && server.requests.count == 1 }
            clock.goOn()
            gate.open()
            #expect(try await caller.valueInTime.refreshToken == "RT1")
        }
    }

    @Test(arguments: [(-1, 30), (0, 30), (.nan, 30), (.infinity, 3600), (5, 5)] as [(TimeInterval, TimeInterval)])
    func `a deadline that makes no sense is corrected`(given: TimeInterval, used: TimeInterval) throws {
        let url = try #require(URL(string: "https://example.com"))
        #expect(TokenEndpoint(url, authentication: .none(clientID: "app"), deadline: given).deadline == used)
    }

    @Test(
        arguments: [
            ("http://example.com/token", "not https"), ("http://127.example.com/", "not https"),
            ("ftp://127.example.com", "not https"), ("https:///", "no URL of a server"),
            ("https:", "no URL of a server"),
            ("https:///token", "no URL of a server"), ("https://app:s3cret@example.com/token", "user name"),
            ("https://app@example.com/", "user name"), ("http://app@127.0.0.1:1/", "user name"),
        ]
    )
    func `nothing is sent to a URL that others can read, that has no host, or that names a user`(
        url: String,
        reason: String
    ) async throws {
        let url = try #require(URL(string: url))
        let endpoint = TokenEndpoint(url, authentication: .none(clientID: "id"), revocationURL: url)
        let errors = [
            await #expect(throws: OAuthError.self) { try await endpoint.exchange(.refreshToken("RT0")) },
            await #expect(throws: OAuthError.self) { try await endpoint.revoke("RT0") },
        ]
        for error in errors {
            let text = try #require(error?.description)
            #expect(["not https", "no URL of a server", "user name"].filter(text.contains) == [reason])
            #expect(!text.contains("s3cret"))
            #expect(error?.isConfigurationMistake == true)
        }
    }

    @Test func `plain HTTP to another machine is used if that is allowed`() async throws {
        let url = try #require(URL(string: "http://no-such-host.invalid/revoke"))
        var endpoint = TokenEndpoint(url, authentication: .none(clientID: "app"), revocationURL: url)
        endpoint.allowsInsecureHTTP = true
        let errors = [
            await #expect(throws: OAuthError.self) { try await endpoint.exchange(.refreshToken("RT")) },
            await #expect(throws: OAuthError.self) { try await endpoint.revoke("RT") },
        ]
        #expect(errors.allSatisfy { $0?.isTransient == true })
    }

    /// `HTTPExchangeTests` shows that the exchange ends then, though its body trickles.
    @Test func `an exchange takes as long as no other process sends the token again, whatever the app's own limits`() {
        var transport = EndpointTransport()
        transport.configuration = .keepingNothing
        transport.configuration?.timeoutIntervalForRequest = 1
        transport.configuration?.timeoutIntervalForResource = 3600
        let connections = transport.connections(limit: 120)
        #expect(connections.configuration.timeoutIntervalForRequest == 480)
        #expect(connections.configuration.timeoutIntervalForResource == 480)
        #expect(connections.timeLimit == 120)
    }

    /// A reply comes within four deadlines, and the request may leave one deadline after the note.
    @Test func `a note protects the refresh token for as long as a reply can come`() async throws {
        try await withServer(replying: 502) { server in
            let endpoint = try server.endpoint(clock: ManualClock())
            let store = TroubledStore(Credential(refreshToken: "RT"), takeOverDelay: .infinity)
            await #expect(throws: OAuthError.self) {
                try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: nil)
            }
            #expect(try await store.credential?.note?.patience == endpoint.replyLimit + endpoint.deadline)
        }
    }

    /// A reply may also be faster than whoever is going to wait for it.
    @Test(arguments: [false, true])
    func `a reply is saved before anybody who waits has it, is not late, and comes once`(isFast: Bool) async {
        let clock = ManualClock()
        let calls = Locked<[(waiting: Int, isLate: Bool)]>([])
        let exchange = OutstandingExchange<Int> { _, isLate in
            calls.withLock { $0.append((clock.pendingTimers, isLate)) }
        }
        if isFast { exchange.settle(7) }
        let reply = Task { await exchange.reply(within: 10, by: clock) }
        if !isFast { await yieldUntil { clock.pendingTimers == 1 } }
        exchange.settle(isFast ? 8 : 7)
        #expect(await reply.value == 7)
        #expect(calls.withLock { $0.map(\.waiting) } == [isFast ? 0 : 1])
        #expect(calls.withLock { $0.map(\.isLate) } == [false])
    }

    /// A session may end after its request was sent, and before anybody waits for the reply.
    @Test func `a reply that is given up early is not waited for, and is late`() async {
        let calls = Locked<[Bool]>([])
        let exchange = OutstandingExchange<Int> { _, isLate in calls.withLock { $0.append(isLate) } }
        exchange.giveUp()
        #expect(await exchange.reply(within: nil, by: SystemClock()) == nil)
        exchange.settle(7)
        #expect(calls.withLock { $0 } == [true])
    }
}

@Suite("A client assertion that is never made", .takesTurns, .endsHangs)
struct AssertionTests {
    private let start = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")

    @Test func `holds neither a load nor a sign-out for ever`() async throws {
        try await withServer(replying: 200, tokens("A1")) { server in
            let clock = ManualClock()
            let never = Event()
            let endpoint = try server.endpoint(
                clock: clock,
                authentication: .assertion(clientID: "app") {
                    await never.wait()
                    return "J"
                }
            )
            let store = TroubledStore(start)
            // Timers of one moment end in the order in which they were set, and the caller's has to be the first.
            store.goBlind(for: 0) { await yieldUntil { clock.pendingTimers == 1 } }
            let unheard = UnheardErrors()
            let loader = OAuthLoader(endpoint: endpoint, store: store, onUnheardError: unheard.hear)
            let load = Task { try await loader.load(replacing: start.accessToken) }
            // The caller's time, and that of the assertion.
            await yieldUntil { clock.pendingTimers == 2 }
            clock.advance(by: 30)
            await #expect(throws: OAuthError.timedOut) { try await load.valueInTime }
            await yieldUntil { !unheard.all.isEmpty }
            #expect(unheard.all.map { $0 as? OAuthError } == [.assertionTimedOut])
            let isOut = Event()
            Task {
                await loader.signOut()
                isOut.happen()
            }
            await yieldUntil {
                clock.advance(by: 30)
                return isOut.hasHappened
            }
            #expect(try await store.load() == nil)
            #expect(server.requests.isEmpty)
            never.happen()
        }
    }
}
