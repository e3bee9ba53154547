import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("An endpoint that is made for each exchange", .takesTurns, .endsHangs)
struct EndpointInClosureTests {
    private static let old = AccessToken(value: "A0")
    private static let start = Credential(accessToken: old, refreshToken: "RT0")

    /// How an app uses an endpoint whose secret is known at run time only.
    enum Way: CaseIterable {
        case given, adapted, closure
    }

    private func exchange(_ way: Way, _ endpoint: TokenEndpoint) -> TokenExchange {
        switch way {
        case .given: TokenExchange(endpoint)
        case .adapted:
            TokenExchange(endpoint) { _, endpoint in
                endpoint.authentication = .postBody(clientID: "app", secret: "S")
            }
        case .closure:
            TokenExchange(deadline: endpoint.deadline, clock: endpoint.clock) { credential in
                let made = TokenEndpoint(
                    endpoint.url,
                    authentication: .none(clientID: "app"),
                    deadline: endpoint.deadline,
                    clock: endpoint.clock
                )
                return try await made.exchange(.refreshToken(credential.refreshToken ?? ""))
            }
        }
    }

    private static let unusable = [
        ReplyShape("a type that is not taken") {
            #"{"access_token":"\#($0)","token_type":"bot","refresh_token":"\#($1)"}"#
        },
        ReplyShape("no access token") { #"{"token_type":"Bearer","refresh_token":"\#($1)"}"# },
        ReplyShape("an access token with a space") {
            #"{"access_token":"\#($0) ","token_type":"Bearer","refresh_token":"\#($1)"}"#
        },
    ]

    @Test(arguments: Way.allCases, unusable)
    func `a reply without a usable access token costs one request, and its refresh token is saved`(
        way: Way,
        shape: ReplyShape
    ) async throws {
        try await withStrictServer(replying: shape) { server, session in
            let clock = ManualClock()
            let store = SharedStore(Self.start)
            let exchange = exchange(way, try server.endpoint(clock: clock))
            for _ in 1...20 {
                await #expect(throws: OAuthError.self) {
                    try await OAuthLoader(exchange, store: store).load(replacing: Self.old)
                }
            }
            #expect(session.sent == ["RT0"])
            #expect(try await store.refreshToken == "RT1")
            clock.advance(by: 301)
            await #expect(throws: OAuthError.self) {
                try await OAuthLoader(exchange, store: store).load(replacing: Self.old)
            }
            #expect(session.sent == ["RT0", "RT1"] && !session.isRevoked)
        }
    }

    @Test(arguments: Way.allCases)
    func `a late reply is saved, and its token is not sent again`(way: Way) async throws {
        let mayAnswer = Gate()
        try await withServer { connection, _ in
            mayAnswer.pass()
            connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)"))
        } _: { server in
            let clock = ManualClock()
            let store = SharedStore(Self.start)
            let loader = OAuthLoader(exchange(way, try server.endpoint(clock: clock)), store: store)
            let load = Task { try await loader.load(replacing: Self.old) }
            // The closure waits for its endpoint, and the loader for the closure.
            let timers = way == .closure ? 3 : 1
            await yieldUntil { server.requests.count == 1 && clock.pendingTimers == timers }
            clock.advance(by: TokenEndpoint.usualDeadline)
            await #expect(throws: OAuthError.timedOut) { try await load.valueInTime }
            mayAnswer.open()
            #expect(try await loader.load(replacing: Self.old).value == "A1")
            #expect(server.requests.count == 1)
            #expect(try await store.refreshToken == "RT1")
        }
    }

    private struct Odd: Error {}

    @Test func `what a closure throws after the reply reaches the caller, and the refresh token is saved`() async throws
    {
        try await withServer(ScriptedServer.rotating) { server in
            let (endpoint, store) = (try server.endpoint(clock: ManualClock()), SharedStore(Self.start))
            let isOdd = Locked(true)
            let exchange = TokenExchange { credential in
                let response = try await endpoint.exchange(.refreshToken(credential.refreshToken ?? ""))
                if isOdd.withLock({ $0 }) { throw Odd() }
                // The refresh token is not handed on.
                return TokenResponse(accessToken: response.accessToken)
            }
            let loader = OAuthLoader(exchange, store: store)
            await #expect(throws: Odd.self) { try await loader.load(replacing: Self.old) }
            #expect(try await store.refreshToken == "RT1")
            isOdd.withLock { $0 = false }
            #expect(try await loader.load(replacing: Self.old).value == "A2")
            #expect(try await store.refreshToken == "RT2")
            #expect(zip(server.requests, ["RT0&", "RT1&"]).allSatisfy { $0.body.contains("refresh_token=\($1)") })
            #expect(server.requests.count == 2)
        }
    }

    @Test func `what a closure exchanges beside the refresh token is its own business`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let (endpoint, store) = (try server.endpoint(), SharedStore(Self.start))
            let exchange = TokenExchange { _ in
                let response = try await endpoint.exchange(.refreshToken("OTHER"))
                return TokenResponse(accessToken: response.accessToken)
            }
            #expect(try await OAuthLoader(exchange, store: store).load(replacing: Self.old).value == "A1")
            #expect(try await store.refreshToken == "RT0")
        }
    }

    // MARK: By a closure that adapts the endpoint

    @Test func `address, secret and parameters are those of the credential, also for a revocation`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let base = try server.endpoint()
            let exchange = TokenExchange(base, parameters: { ["claims": "c-\($0.scope ?? "")"] }) {
                credential,
                endpoint in
                endpoint.url = base.url.appending(path: credential.scope ?? "none")
                endpoint.authentication = .postBody(clientID: "app", secret: "s-\(credential.refreshToken ?? "")")
            }
            let store = MemoryCredentialStore(Credential(refreshToken: "RT0", scope: "eu"))
            let loader = OAuthLoader(exchange, store: store)
            #expect(try await loader.load(replacing: nil).value == "A1")
            await loader.signOut()
            #expect(server.requests.map(\.line) == ["POST /token/eu HTTP/1.1", "POST /revoke HTTP/1.1"])
            #expect(
                server.requests.map(\.body) == [
                    "grant_type=refresh_token&refresh_token=RT0&claims=c-eu&client_id=app&client_secret=s-RT0",
                    "token=RT1&token_type_hint=refresh_token&client_id=app&client_secret=s-RT1",
                ]
            )
        }
    }

    @Test func `all loaders of the exchange share the line of its endpoint, whatever the closure changes`() async throws
    {
        try await withServer { connection, _ in
            connection.reply(503, "", fields: ["Retry-After": "120"])
        } _: { server in
            let base = try server.endpoint(clock: ManualClock())
            let exchange = TokenExchange(base) { _, endpoint in endpoint.configuration = .keepingNothing }
            for _ in 1...3 {
                let loader = OAuthLoader(exchange, store: MemoryCredentialStore(Self.start))
                await #expect(throws: OAuthError.self) { try await loader.load(replacing: Self.old) }
            }
            #expect(server.requests.count == 2)
            #expect(base.gate.turnAtOnce() == nil)
        }
    }

    @Test func `an error of the closure reaches the caller, nothing is sent, and the token stays good`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let isOdd = Locked(true)
            let exchange = TokenExchange(try server.endpoint()) { _, _ in
                if isOdd.withLock({ $0 }) { throw Odd() }
            }
            let store = SharedStore(Self.start)
            let loader = OAuthLoader(exchange, store: store)
            await #expect(throws: Odd.self) { try await loader.load(replacing: Self.old) }
            #expect(server.requests.isEmpty)
            #expect(try await store.credential?.note == nil)
            isOdd.withLock { $0 = false }
            #expect(try await loader.load(replacing: Self.old).value == "A1")
        }
    }

    @Test func `address and parameters have one deadline together, and nothing is sent after it`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let clock = ManualClock()
            let base = try server.endpoint(clock: clock)
            let exchange = TokenExchange(
                base,
                parameters: { _ in
                    clock.advance(by: 0.6 * base.deadline)
                    return [:]
                }
            ) { _, _ in
                clock.advance(by: 0.6 * base.deadline)
            }
            let loader = OAuthLoader(exchange, store: SharedStore(Self.start))
            await #expect(throws: OAuthError.self) { try await loader.load(replacing: Self.old) }
            // The caller may have been answered before.
            await yieldUntil { loader.memory.withLock { $0.sending.isEmpty } }
            #expect(server.requests.isEmpty)
        }
    }

    /// What is made before a request leaves.
    enum Made: CaseIterable {
        case address, parameters, assertion
    }

    /// A process may be stopped there: by the note in the record, others wait no longer than a reply can come.
    @Test(arguments: Made.allCases)
    func `nothing is sent when another process may send the refresh token already`(slow: Made) async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let clock = ManualClock()
            let base = try server.endpoint(clock: clock)
            let make = { @Sendable (made: Made) in
                if made == slow { clock.setWallClock(to: clock.now.addingTimeInterval(base.replyLimit + 1)) }
            }
            let exchange = TokenExchange(
                base,
                parameters: { _ in
                    make(.parameters)
                    return [:]
                }
            ) { _, endpoint in
                make(.address)
                endpoint.authentication = .assertion(clientID: "app") {
                    make(.assertion)
                    return "J"
                }
            }
            let loader = OAuthLoader(exchange, store: SharedStore(Self.start))
            await #expect(throws: OAuthError.timedOut) { try await loader.load(replacing: Self.old) }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a secret that is made for each request is sent in the body, and shown by no error`() async throws {
        try await withServer(replying: 400, #"{"error":"x-SECRET-x"}"#) { server in
            let endpoint = try server.endpoint(authentication: .postBody(clientID: "app") { "SECRET" })
            let error = await #expect(throws: OAuthError.self) { try await endpoint.exchange(.refreshToken("RT0")) }
            #expect(
                server.requests.map(\.body)
                    == ["grant_type=refresh_token&refresh_token=RT0&client_id=app&client_secret=SECRET"]
            )
            #expect(!"\(error as Any) \(endpoint)".contains("SECRET"))
            let failing = try server.endpoint(authentication: .postBody(clientID: "app") { throw Odd() })
            await #expect(throws: Odd.self) { try await failing.exchange(.refreshToken("RT0")) }
            #expect(server.requests.count == 1)
        }
    }
}
