import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("An exchange of the app's own", .takesTurns, .endsHangs)
struct TokenExchangeTests {
    private static let start = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")
    private let old = AccessToken(value: "A0")

    /// Counts what the app's code is asked, and answers the n-th time with A n and RT n, unless something else is said.
    private final class Vendor: Sendable {
        private let asked = Locked<[String]>([])
        private let answer: @Sendable (Int) async throws -> TokenResponse

        init(
            _ answer: @escaping @Sendable (Int) async throws -> TokenResponse = {
                TokenResponse(accessToken: AccessToken(value: "A\($0)"), refreshToken: "RT\($0)")
            }
        ) {
            self.answer = answer
        }

        var sent: [String] { asked.withLock { $0 } }

        func exchange(clock: (any AccessTokenClock)? = nil) -> TokenExchange {
            TokenExchange(deadline: TokenEndpoint.deadline(by: clock), clock: clock ?? SystemClock()) {
                [self] credential in
                let number = asked.withLock { asked in
                    asked.append(credential.refreshToken ?? "none")
                    return asked.count
                }
                return try await answer(number)
            }
        }
    }

    @Test func `is asked once by fifty callers of two services, and what it brings is saved first`() async throws {
        let (vendor, store) = (Vendor(), MemoryCredentialStore(Credential(refreshToken: "RT0")))
        let services = (0..<2).map { _ in
            AsyncAccessTokenService(
                loader: OAuthLoader(vendor.exchange(), store: store),
                policy: .withoutLoadDeadline
            )
        }
        let values = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<50 { group.addTask { try await services[number % 2].token().value } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(values == ["A1"])
        #expect(vendor.sent == ["RT0"])
        #expect(try await store.refreshToken == "RT1")
    }

    @Test func `is noted in the record before it begins`() async throws {
        let store = SharedStore(Self.start)
        let noted = Locked<SentNote?>(nil)
        let exchange = TokenExchange(deadline: 3600) { credential in
            let note = try await store.load()?.credential.note
            noted.withLock { $0 = note }
            #expect(credential.note == nil, "the app's code sees no note")
            return TokenResponse(accessToken: AccessToken(value: "A1"))
        }
        _ = try await OAuthLoader(exchange, store: store).load(replacing: old)
        #expect(noted.withLock { $0?.outcome } == .awaited)
        #expect(try await store.credential?.note == nil)
    }

    private struct Odd: Error {}

    /// How often the same refresh token is sent in three loads, and whether it is in the store afterwards.
    @Test(
        arguments: [
            (OAuthError.refused("invalid_grant"), 1, false), (OAuthError.refused("login_required"), 1, true),
            (OAuthError.refused("invalid_client"), 3, true), (URLError(.notConnectedToInternet), 3, true),
            (OAuthError.unreachable(code: -1004), 3, true), (OAuthError.unavailable(status: 429), 3, true),
            (OAuthError.notUnderstood(status: 200, "odd"), 1, true), (AccessTokenError.signedOut, 3, true),
            (DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "")), 1, true),
            (CocoaError(.propertyListReadCorrupt), 1, true),
            (URLError(.timedOut), 2, true), (OAuthError.connectionLost(code: -1005), 2, true),
            (CancellationError(), 2, true), (Odd(), 2, true),
        ] as [(any Error, Int, Bool)]
    )
    func `says by its error what happened to the request`(error: any Error, times: Int, stays: Bool) async throws {
        let (vendor, store) = (Vendor { _ in throw error }, SharedStore(Self.start))
        let loader = OAuthLoader(vendor.exchange(clock: ManualClock()), store: store)
        for number in 0..<3 {
            let told = await #expect(throws: (any Error).self) { try await loader.load(replacing: old) }
            if number == 0 { #expect(told.map { "\($0)" } == "\(error)", "the error is unchanged") }
        }
        #expect(vendor.sent == Array(repeating: "RT0", count: times))
        #expect((try await store.refreshToken != nil) == stays)
    }

    /// Has a caller wait for the first exchange until so many deadlines are over.
    private func timeOut(_ loader: OAuthLoader, after deadlines: Double, _ vendor: Vendor, _ clock: ManualClock)
        async throws
    {
        let load = Task { try await loader.load(replacing: old) }
        await yieldUntil { clock.pendingTimers == 2 && vendor.sent.count == 1 }
        clock.advance(by: deadlines * TokenEndpoint.usualDeadline)
        await #expect(throws: OAuthError.timedOut) { try await load.valueInTime }
    }

    @Test func `is seen through when its caller's time is over, and the next load takes what it brings`() async throws {
        let (clock, store, gate) = (ManualClock(), SharedStore(Self.start), Event())
        let vendor = Vendor { number in
            await gate.wait()
            return TokenResponse(accessToken: AccessToken(value: "A\(number)"), refreshToken: "RT\(number)")
        }
        let loader = OAuthLoader(vendor.exchange(clock: clock), store: store)
        try await timeOut(loader, after: 1, vendor, clock)
        gate.happen()
        #expect(try await loader.load(replacing: old).value == "A1")
        #expect(vendor.sent == ["RT0"])
        #expect(try await store.refreshToken == "RT1")
    }

    @Test(arguments: [true, false])
    func `that never ends lets the next load in after four deadlines, and what it brings later is saved`(
        byNextLoad: Bool
    ) async throws {
        let (clock, store, gate) = (ManualClock(), MemoryCredentialStore(Self.start), Event())
        let vendor = Vendor { number in
            guard number == 1 else { throw URLError(.notConnectedToInternet) }
            await gate.wait()
            return TokenResponse(accessToken: AccessToken(value: "A\(number)"), refreshToken: "RT\(number)")
        }
        let loader = OAuthLoader(vendor.exchange(clock: clock), store: store)
        try await timeOut(loader, after: 4, vendor, clock)
        await #expect(throws: URLError.self) { try await loader.load(replacing: old) }
        gate.happen()
        await yieldUntil { loader.memory.withLock { $0.unsaved != nil } }
        if !byNextLoad {
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: 1)
            await yieldUntil { !loader.memory.isOwing }
            #expect(try await store.refreshToken == "RT1")
        }
        #expect(try await loader.load(replacing: old).value == "A1")
        #expect(try await store.refreshToken == "RT1")
        #expect(vendor.sent == ["RT0", "RT0"])
    }

    @Test func `that ends after a later one has brought something takes nothing from that`() async throws {
        let (clock, store, gate) = (ManualClock(), MemoryCredentialStore(Self.start), Event())
        let vendor = Vendor { _ in
            await gate.wait()
            return TokenResponse(accessToken: AccessToken(value: "A1"), refreshToken: "RT1")
        }
        let loader = OAuthLoader(vendor.exchange(clock: clock), store: store)
        try await timeOut(loader, after: 4, vendor, clock)
        await yieldUntil { clock.pendingTimers == 0 }
        let later = LoaderMemory.Unsaved(credential: Credential(refreshToken: "RT2"), base: Self.start)
        loader.memory.withLock { $0.unsaved = later }
        gate.happen()
        // The process has noted that it owes something.
        await yieldUntil { clock.pendingTimers == 1 }
        #expect(loader.memory.withLock { $0.unsaved } == later)
    }

    @Test func `brings nothing back after a sign-out, which tells the app's code what to revoke`() async throws {
        let (clock, store, gate) = (ManualClock(), MemoryCredentialStore(Self.start), Event())
        let revoked = Locked<[String?]>([])
        let begun = Event()
        let exchange = TokenExchange(clock: clock) { credential in
            revoked.withLock { $0.append(credential.refreshToken) }
        } _: { _ in
            begun.happen()
            await gate.wait()
            return TokenResponse(accessToken: AccessToken(value: "A1"), refreshToken: "RT1")
        }
        let loader = OAuthLoader(exchange, store: store)
        let load = Task { try await loader.load(replacing: old) }
        await begun.wait()
        await yieldUntil { clock.pendingTimers == 2 }
        let signOut = Task { await loader.signOut() }
        await yieldUntil { clock.pendingTimers == 3 }
        clock.advance(by: TokenEndpoint.usualDeadline)
        await signOut.value
        await #expect(throws: (any Error).self) { try await load.valueInTime }
        gate.happen()
        await yieldUntil { revoked.withLock { $0 == ["RT0", "RT1"] } }
        #expect(try await store.credential == nil)
    }

    @Test(arguments: ["", "A B", "A\n"])
    func `brings no access token that cannot be sent, and the refresh token beside it is saved`(value: String)
        async throws
    {
        let vendor = Vendor { _ in TokenResponse(accessToken: AccessToken(value: value), refreshToken: "RT1") }
        let store = MemoryCredentialStore(Self.start)
        let loader = OAuthLoader(vendor.exchange(), store: store)
        for _ in 0..<2 {
            let error = await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) }
            #expect(error?.sessionMayBeSpent == false)
        }
        #expect(vendor.sent == ["RT0"])
        #expect(try await store.refreshToken == "RT1")
    }

    @Test func `parameters go with each refresh token, and a grant is made anew for each exchange`() async throws {
        try await withServer { connection, request in
            let isRefused = request.body.contains("RT1")
            connection.reply(
                isRefused ? 400 : 200,
                isRefused ? #"{"error":"invalid_grant"}"# : tokens("A\(connection.number)", "RT1")
            )
        } _: { server in
            let made = Locked(0)
            let exchange = TokenExchange(
                try server.endpoint(),
                parameters: ["resource": "https://api.example.com/mcp", "resource": "urn:b"]
            ) {
                let number = made.withLock { made in
                    made += 1
                    return made
                }
                return .extensionGrant(
                    "urn:ietf:params:oauth:grant-type:jwt-bearer",
                    parameters: ["assertion": "J\(number)"]
                )
            }
            for _ in 0..<2 {
                let loader = OAuthLoader(exchange, store: MemoryCredentialStore())
                let token = try await loader.load(replacing: nil)
                // The refresh token that came with it is refused, and the grant is exchanged again.
                #expect(try await loader.load(replacing: token) != token)
            }
            let refresh = server.requests.first { $0.body.contains("refresh_token=") && $0.line.contains("/token") }
            #expect(
                refresh?.body == "grant_type=refresh_token&refresh_token=RT1"
                    + "&resource=https%3A%2F%2Fapi.example.com%2Fmcp&resource=urn%3Ab&client_id=app"
            )
            let assertions = server.requests.compactMap { $0.body.firstMatch(of: /assertion=(J\d)/).map { "\($0.1)" } }
            #expect(assertions == ["J1", "J2", "J3", "J4"])
        }
    }

    @Test func `a grant that is never made ends the load at the deadline, and one that fails reaches the caller`()
        async throws
    {
        try await withServer(ScriptedServer.rotating) { server in
            let clock = ManualClock()
            let endpoint = try server.endpoint(clock: clock)
            let (begin, end) = (Event(), Event())
            defer { end.happen() }
            let never = OAuthLoader(
                TokenExchange(endpoint) {
                    begin.happen()
                    await end.wait()
                    return .clientCredentials()
                },
                store: MemoryCredentialStore()
            )
            let load = Task { try await never.load(replacing: nil) }
            await begin.wait()
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: TokenEndpoint.usualDeadline)
            await #expect(throws: OAuthError.assertionTimedOut) { try await load.valueInTime }
            let failing = OAuthLoader(TokenExchange(endpoint) { throw Odd() }, store: MemoryCredentialStore())
            await #expect(throws: Odd.self) { try await failing.load(replacing: nil) }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a clock that is set while a renewal is made ends the load, which says that nothing was sent`()
        async throws
    {
        try await withServer(ScriptedServer.rotating) { server in
            let clock = ManualClock()
            let client = ClientAuthentication.assertion(clientID: "app") {
                clock.setWallClock(to: clock.now + 3600)
                return "J"
            }
            let endpoint = try server.endpoint(clock: clock, authentication: client)
            let loader = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore(Self.start))
            let error = await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) }
            #expect(error?.mayHaveBeenCarriedOut == false && error?.isTransient == true)
            #expect(error?.description.contains("nothing was sent") == true)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a failure of the server right before a refusal is told, since the refusal does not say why`()
        async throws
    {
        try await withServer { connection, _ in
            connection.reply(connection.number == 1 ? 500 : 400, #"{"error":"invalid_grant"}"#)
        } _: { server in
            let unheard = UnheardErrors()
            let store = MemoryCredentialStore(Self.start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store, onUnheardError: unheard.hear)
            await #expect(throws: OAuthError.unavailable(status: 500)) { try await loader.load(replacing: old) }
            #expect(unheard.all.isEmpty)
            await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: old) }
            #expect(unheard.all.map { $0 as? OAuthError } == [.unavailable(status: 500)])
        }
    }
}
