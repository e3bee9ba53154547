import AccessTokenContract
import AccessTokenCore
import AccessTokenSynchronization
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The gate of an endpoint", .takesTurns, .endsHangs)
struct ExchangeGateTests {
    private final class Count: Sendable {
        private let count = Locked(0)
        var value: Int { count.withLock { $0 } }
        func increase() { count.withLock { $0 += 1 } }
    }

    private let clock = ManualClock()

    private func gate(_ limit: Int = 1) -> ExchangeGate { ExchangeGate(limit: limit, patience: 30, clock: clock) }

    /// Starts one that waits, and returns when it does.
    private func waiter(at gate: ExchangeGate) async -> Task<ExchangeGate.Turn, any Error> {
        let before = gate.waiting
        let task = Task { try await gate.turn(.renewal) }
        await yieldUntil { gate.waiting == before + 1 }
        return task
    }

    private func endpoint(_ server: ScriptedServer, limit: Int) throws -> TokenEndpoint {
        var endpoint = try server.endpoint(clock: clock)
        let configuration = URLSessionConfiguration.keepingNothing
        configuration.httpMaximumConnectionsPerHost = limit
        endpoint.configuration = configuration
        return endpoint
    }

    /// An exchange whose grants are numbered, and how many it has made.
    private func numberedGrants(at endpoint: TokenEndpoint) -> (exchange: TokenExchange, made: Count) {
        let made = Count()
        let exchange = TokenExchange(endpoint) {
            made.increase()
            return .refreshToken("G\(made.value)")
        }
        return (exchange, made)
    }

    // MARK: Turns

    @Test func `lets the next one in when a turn ends or is forgotten, once for each`() async throws {
        let gate = gate()
        let turn = try #require(gate.turnAtOnce())
        let (first, second) = (await waiter(at: gate), await waiter(at: gate))
        turn.end()
        turn.end()
        #expect(gate.waiting == 1)
        #expect(gate.turnAtOnce() == nil)
        try await first.value.end()
        try await second.value.end()
        // This one is forgotten.
        #expect(gate.turnAtOnce() != nil)
        #expect(gate.inFlight == 0)
    }

    @Test func `lets a waiter go when its task is cancelled, and the next one has its turn`() async throws {
        let gate = gate()
        let turn = try #require(gate.turnAtOnce())
        let (first, second) = (await waiter(at: gate), await waiter(at: gate))
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(gate.waiting == 1 && gate.inFlight == 1)
        let isCancelled = Event()
        let late = Task {
            await isCancelled.wait()
            return try await gate.turn(.renewal)
        }
        late.cancel()
        isCancelled.happen()
        turn.end()
        let next = try await second.value
        await #expect(throws: CancellationError.self) { try await late.value }
        next.end()
    }

    @Test func `goes on after a pause by one timer, also when the wall clock is set back`() async throws {
        let gate = gate()
        for _ in 1...2 { gate.answered(429, retryAfter: 5, of: gate.volley) }
        let waiters = [await waiter(at: gate), await waiter(at: gate), await waiter(at: gate)]
        // A waiter is in line before its timer is set.
        await yieldUntil { clock.pendingTimers == 1 }
        clock.setWallClock(to: clock.now.addingTimeInterval(-3600))
        clock.advance(by: 4)
        #expect(gate.waiting == 3)
        clock.advance(by: 1)
        #expect(gate.waiting == 2)
        for waiter in waiters { waiter.cancel() }
    }

    // MARK: Loads

    @Test func `has as many requests in flight as the configuration has it, and no deadline for those who wait`()
        async throws
    {
        let inFlight = Locked(0)
        let most = Locked(0)
        let gate = Gate()
        try await withServer { connection, _ in
            let count = inFlight.withLock { count in
                count += 1
                return count
            }
            most.withLock { $0 = max($0, count) }
            gate.pass()
            inFlight.withLock { $0 -= 1 }
            connection.reply(200, tokens("A", "RT"))
        } _: { server in
            let endpoint = try endpoint(server, limit: 4)
            let loads = (1...40).map { number in
                let store = MemoryCredentialStore(Credential(refreshToken: "RT\(number)"))
                return Task { try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: nil) }
            }
            await yieldUntil { inFlight.withLock { $0 } == 4 && endpoint.gate.waiting == 36 }
            // Those of the four, and one of the gate.
            await yieldUntil { clock.pendingTimers == 5 }
            for _ in loads { gate.open() }
            for load in loads { #expect(try await load.value.value == "A") }
            #expect(most.withLock { $0 } == 4)
            #expect(Set(server.requests.map(\.body)).count == 40)
            #expect(server.requests.count == 40)
        }
    }

    /// Another process spoils the record between the look from outside and the one inside.
    @Test func `waits for a turn after all if the record has changed meanwhile`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let endpoint = try endpoint(server, limit: 1)
            let store = TroubledStore(
                Credential(accessToken: AccessToken(value: "A0", expiration: clock.now + 3600), refreshToken: "RT0")
            )
            store.goBlind(for: 0) {
                store.goBlind(for: 0) {
                    try await store.base.update { _ in .replace(Credential(refreshToken: "RT0")) }
                }
            }
            let turn = try #require(endpoint.gate.turnAtOnce())
            let load = Task { try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: nil) }
            await yieldUntil { endpoint.gate.waiting == 1 }
            #expect(server.requests.isEmpty)
            turn.end()
            #expect(try await load.value.value == "A1")
            #expect(endpoint.gate.inFlight == 0)
        }
    }

    /// There is one turn for all of them.
    ///
    /// The service's load is not one of those of the users: it runs in a task of its own, and somebody else may have
    /// begun it.
    @Test func `has no turn while its grant is made, which asks a service of the same endpoint`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let endpoint = try endpoint(server, limit: 1)
            let client = AsyncAccessTokenService(
                loader: OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore(), grant: .clientCredentials()),
                policy: .withoutLoadDeadline,
                clock: clock
            )
            let exchange = TokenExchange(endpoint) { .refreshToken(try await client.token().value) }
            let users = (1...8).map { _ in
                Task { try await OAuthLoader(exchange, store: MemoryCredentialStore()).load(replacing: nil).value }
            }
            var tokens: Set<String> = []
            for user in users { tokens.insert(try await user.value) }
            #expect(tokens == Set((2...9).map { "A\($0)" }))
            #expect(server.requests.dropFirst().allSatisfy { $0.body.contains("refresh_token=A1&") })
            #expect(endpoint.gate.inFlight == 0)
        }
    }

    @Test func `makes a grant anew that has grown old in line, and comes first then`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let endpoint = try endpoint(server, limit: 1)
            let turn = try #require(endpoint.gate.turnAtOnce())
            let (exchange, made) = numberedGrants(at: endpoint)
            let load = Task { try await OAuthLoader(exchange, store: MemoryCredentialStore()).load(replacing: nil) }
            await yieldUntil { endpoint.gate.waiting == 1 }
            let others = [await waiter(at: endpoint.gate), await waiter(at: endpoint.gate)]
            // Somebody is answered meanwhile: nobody waits in vain.
            clock.advance(by: endpoint.deadline / 2 + 1)
            endpoint.gate.answered(200, retryAfter: nil, of: endpoint.gate.volley)
            turn.end()
            let other = try await others[0].value
            await yieldUntil { made.value == 2 && endpoint.gate.waiting == 2 }
            other.end()
            #expect(try await load.value.value == "A1")
            #expect(server.requests.map { $0.body.contains("refresh_token=G2&") } == [true])
            try await others[1].value.end()
            #expect(endpoint.gate.inFlight == 0)
        }
    }

    /// The time of the making is not the grant's age.
    @Test func `sends a grant that takes longer to make than it may stand in line`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let endpoint = try endpoint(server, limit: 1)
            let made = Count()
            let exchange = TokenExchange(endpoint) {
                made.increase()
                clock.advance(by: endpoint.deadline * 0.6)
                return .clientCredentials()
            }
            let load = Task { try await OAuthLoader(exchange, store: MemoryCredentialStore()).load(replacing: nil) }
            #expect(try await load.valueInTime.value == "A1")
            #expect(made.value == 1)
        }
    }

    @Test func `sends no grant for a load that was cancelled while the grant was made`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let endpoint = try endpoint(server, limit: 1)
            let (isMaking, mayEnd) = (Event(), Event())
            let exchange = TokenExchange(endpoint) {
                isMaking.happen()
                await mayEnd.wait()
                return .clientCredentials()
            }
            let load = Task { try await OAuthLoader(exchange, store: MemoryCredentialStore()).load(replacing: nil) }
            await isMaking.wait()
            load.cancel()
            mayEnd.happen()
            await #expect(throws: CancellationError.self) { try await load.value }
            #expect(server.requests.isEmpty)
            #expect(endpoint.gate.inFlight == 0)
        }
    }

    // MARK: One place for each store

    @Test func `has one place for the loads of a store, and one more for each key`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let endpoint = try endpoint(server, limit: 1)
            let turn = try #require(endpoint.gate.turnAtOnce())
            let store = TroubledStore(Credential(refreshToken: "RT0"))
            let loads = (1...3).map { number in
                Task { try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: nil).value }
            }
            let key = Task { try await OAuthLoader(endpoint: endpoint, store: store, key: "K").load(replacing: nil) }
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            await yieldUntil { endpoint.gate.waiting == 2 && loader.memory.places.waiting == 2 }
            turn.end()
            for load in loads { _ = try await load.value }
            _ = try await key.value
            // The key, and one of the others: the token that it brought is good for the rest.
            #expect(server.requests.count == 2)
            #expect(endpoint.gate.inFlight == 0)
        }
    }

    @Test func `leaves its place to the next load of the store when it is cancelled`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let endpoint = try endpoint(server, limit: 1)
            let turn = try #require(endpoint.gate.turnAtOnce())
            let loader = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore(Credential(refreshToken: "RT0")))
            let first = Task { try await loader.load(replacing: nil) }
            await yieldUntil { endpoint.gate.waiting == 1 }
            let second = Task { try await loader.load(replacing: nil) }
            let third = Task { try await loader.load(replacing: nil) }
            await yieldUntil { loader.memory.places.waiting == 2 }
            third.cancel()
            await #expect(throws: CancellationError.self) { try await third.value }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            turn.end()
            #expect(try await second.value.value == "A1")
            #expect(endpoint.gate.inFlight == 0)
            #expect(loader.memory.places.locked == 0)
        }
    }

    @Test func `hands its place to one other load of the store, and wakes no others`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let endpoint = try endpoint(server, limit: 1)
            let turn = try #require(endpoint.gate.turnAtOnce())
            let looks = Count()
            let store = ChangingStore {
                looks.increase()
                return Credential(refreshToken: "RT0")
            }
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            let first = Task { try await loader.load(replacing: nil) }
            await yieldUntil { endpoint.gate.waiting == 1 }
            let others = (1...3).map { _ in Task { try await loader.load(replacing: nil) } }
            await yieldUntil { loader.memory.places.waiting == 3 }
            #expect(looks.value == 4)
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            await yieldUntil { endpoint.gate.waiting == 1 && loader.memory.places.waiting == 2 }
            #expect(looks.value == 5)
            turn.end()
            for other in others { #expect(try await other.value.value == "A1") }
            #expect(server.requests.count == 1)
            #expect(loader.memory.places.locked == 0)
        }
    }

    /// Otherwise the last of them would be told after as many deadlines as there are loads.
    @Test func `tells all loads that wait for the place when its store does not answer`() async throws {
        try await withServer(replying: 500) { server in
            let endpoint = try endpoint(server, limit: 1)
            let turn = try #require(endpoint.gate.turnAtOnce())
            let (isLooking, mayEnd) = (Event(), Event())
            defer { mayEnd.happen() }
            let store = TroubledStore(Credential(refreshToken: "RT0"))
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            let first = Task { try await loader.load(replacing: nil) }
            await yieldUntil { endpoint.gate.waiting == 1 }
            let others = (1...3).map { _ in Task { try await loader.load(replacing: nil) } }
            await yieldUntil { loader.memory.places.waiting == 3 }
            let timers = clock.pendingTimers
            store.goBlind(for: 0) {
                isLooking.happen()
                await mayEnd.wait()
            }
            first.cancel()
            await isLooking.wait()
            await yieldUntil { clock.pendingTimers == timers + 1 }
            clock.advance(by: endpoint.deadline)
            for other in others {
                let error = await #expect(throws: CredentialStoreError.self) { try await other.valueInTime }
                #expect(error?.isTransient == true)
            }
            #expect(loader.memory.places.locked == 0)
            turn.end()
        }
    }

    @Test func `looks at a store that does not answer for no longer than the deadline`() async throws {
        try await withServer(replying: 500) { server in
            let endpoint = try endpoint(server, limit: 1)
            let turn = try #require(endpoint.gate.turnAtOnce())
            let (isLooking, mayEnd) = (Event(), Event())
            defer { mayEnd.happen() }
            let store = TroubledStore(Credential(refreshToken: "RT0"))
            store.goBlind(for: 0) {
                isLooking.happen()
                await mayEnd.wait()
            }
            let load = Task { try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: nil) }
            await isLooking.wait()
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: endpoint.deadline)
            let error = await #expect(throws: CredentialStoreError.self) { try await load.valueInTime }
            #expect(error?.isTransient == true && error?.place == "TroubledStore")
            turn.end()
        }
    }

    @Test func `keeps the turn of what was sent until it is answered, also when its caller waits no longer`()
        async throws
    {
        let mayAnswer = Gate()
        try await withServer { connection, _ in
            mayAnswer.pass()
            connection.reply(200, tokens("A", "RT"))
        } _: { server in
            let endpoint = try endpoint(server, limit: 1)
            let loader = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore(Credential(refreshToken: "RT0")))
            let calls: [@Sendable () async throws -> Void] = [
                { _ = try await endpoint.exchange(.clientCredentials()) },
                { _ = try await loader.load(replacing: nil) },
            ]
            for (index, call) in calls.enumerated() {
                let caller = Task { try await call() }
                await yieldUntil { server.requests.count == index + 1 && clock.pendingTimers == 1 }
                clock.advance(by: endpoint.deadline)
                await #expect(throws: OAuthError.timedOut) { try await caller.value }
                #expect(endpoint.gate.inFlight == 1)
                mayAnswer.open()
                await yieldUntil { endpoint.gate.inFlight == 0 }
            }
        }
    }

    @Test func `lets a sign-out revoke without a turn, and gives every turn back`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let endpoint = try endpoint(server, limit: 1)
            let turn = try #require(endpoint.gate.turnAtOnce())
            let loads = (1...3).map { number in
                let store = MemoryCredentialStore(Credential(refreshToken: "RT\(number)"))
                return Task { try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: nil) }
            }
            await yieldUntil { endpoint.gate.waiting == 3 }
            let store = MemoryCredentialStore(Credential(refreshToken: "GONE"))
            await OAuthLoader(endpoint: endpoint, store: store).signOut()
            #expect(server.requests.map { $0.body.hasPrefix("token=GONE&") } == [true])
            turn.end()
            for load in loads { _ = try await load.value }
            #expect(endpoint.gate.inFlight == 0)
        }
    }

    /// Fifty users with such a store would keep all others from the endpoint.
    @Test func `gives its turn back when its store never ends the write that announces the request`() async throws {
        try await withServer(replying: 500) { server in
            let endpoint = try endpoint(server, limit: 1)
            let (isWriting, mayEnd) = (Event(), Event())
            let store = TroubledStore(Credential(refreshToken: "RT0"), takeOverDelay: 5)
            let (isLooking, mayLook) = (Event(), Event())
            store.goBlind(for: 0) {
                isLooking.happen()
                await mayLook.wait()
            }
            store.afterUpdate {
                isWriting.happen()
                await mayEnd.wait()
            }
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            let load = Task { try await loader.load(replacing: nil) }
            await isLooking.wait()
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: 1)
            mayLook.happen()
            await isWriting.wait()
            clock.advance(by: endpoint.deadline - 1)
            await #expect(throws: OAuthError.timedOut) { try await load.valueInTime }
            // What was announced may still be sent.
            #expect(endpoint.gate.inFlight == 1)
            clock.advance(by: endpoint.deadline)
            #expect(endpoint.gate.inFlight == 0)
            mayEnd.happen()
            await yieldUntil { loader.memory.withLock { $0.sending.isEmpty } }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `gives its turn back when a late reply is there and its store never ends the write`() async throws {
        let mayAnswer = Gate()
        try await withServer { connection, _ in
            mayAnswer.pass()
            connection.reply(200, tokens("A", "RT"))
        } _: { server in
            let endpoint = try endpoint(server, limit: 1)
            let (isWriting, mayEnd) = (Event(), Event())
            defer { mayEnd.happen() }
            let store = TroubledStore(Credential(refreshToken: "RT0"))
            store.afterUpdate {
                isWriting.happen()
                await mayEnd.wait()
            }
            let load = Task { try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: nil) }
            await yieldUntil { server.requests.count == 1 && clock.pendingTimers == 1 }
            clock.advance(by: endpoint.deadline)
            await #expect(throws: OAuthError.timedOut) { try await load.valueInTime }
            #expect(endpoint.gate.inFlight == 1)
            mayAnswer.open()
            await isWriting.wait()
            #expect(endpoint.gate.inFlight == 0)
        }
    }

    @Test func `does not hear what a device that polls and a sign-out are told`() async throws {
        try await withServer { connection, _ in
            connection.reply(429, "", fields: ["Retry-After": "20"])
        } _: { server in
            let endpoint = try endpoint(server, limit: 1)
            let poll = TokenGrant.extensionGrant(TokenGrant.deviceCodeType, parameters: ["device_code": "D"])
            for _ in 1...2 {
                await #expect(throws: OAuthError.self) { try await endpoint.exchange(poll) }
                await #expect(throws: OAuthError.self) { try await endpoint.revoke("RT") }
            }
            #expect(server.requests.count == 4)
            #expect(endpoint.gate.turnAtOnce() != nil)
        }
    }

    @Test func `tells all accounts at once for how long the server wants to be left alone`() async throws {
        try await withServer { connection, _ in
            connection.reply(503, "", fields: ["Retry-After": "120"])
        } _: { server in
            let endpoint = try endpoint(server, limit: 2)
            // Two are told by the server, and the others by the line.
            for seconds in [120.0, 120, endpoint.deadline, endpoint.deadline] {
                let store = MemoryCredentialStore(Credential(refreshToken: "RT"))
                await #expect(throws: OAuthError.unavailable(status: 503, retryAfter: seconds)) {
                    try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: nil)
                }
            }
            await #expect(throws: OAuthError.unavailable(status: 503, retryAfter: endpoint.deadline)) {
                try await endpoint.exchange(.refreshToken("RT"))
            }
            #expect(server.requests.count == 2)
        }
    }

    // MARK: A server with a limit

    /// The server takes twenty requests in a second.
    ///
    /// By clocks that the test sets forward, a second is over when every load has its token, waits for its turn, or
    /// waits before it tries again: then nothing is in flight.
    @Test func `asks a server with a limit little more often than there are accounts, and tells nobody of an error`()
        async throws
    {
        let (accounts, window, limit) = (60, 20, 8)
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        server.limitTokenRequests(to: window)
        var endpoint = TokenEndpoint(
            server.tokenEndpoint,
            authentication: .none(clientID: RotatingAuthorizationServer.clientID),
            deadline: 3600,
            clock: clock
        )
        let configuration = URLSessionConfiguration.keepingNothing
        configuration.httpMaximumConnectionsPerHost = limit
        endpoint.configuration = configuration
        let retries = ManualClock()
        let answered = Count()
        let loads = (1...accounts).map { [endpoint] _ in
            let store = MemoryCredentialStore(Credential(refreshToken: server.signIn().refreshToken))
            let loader = RetryingLoader(
                OAuthLoader(endpoint: endpoint, store: store),
                clock: retries,
                jitter: { _ in 0 }
            )
            return Task {
                defer { answered.increase() }
                return try await loader.load(replacing: nil)
            }
        }
        // A load that fails is answered as well: every round ends, and so does the number of rounds.
        for _ in 1...accounts {
            // In this order: a load can only pass from the last of them to the others.
            await yieldUntil { answered.value + retries.pendingTimers + endpoint.gate.waiting == accounts }
            guard answered.value < accounts else { break }
            server.limitTokenRequests(to: window)
            clock.advance(by: 1)
            retries.advance(by: 1)
        }
        for load in loads { _ = try await load.value }
        #expect(server.tally.reuses == 0)
        // All that are in flight are refused, and then half of those; the line's test says why twice as many can be.
        #expect(server.tally.tokenRequests > accounts)
        #expect(server.tally.tokenRequests <= accounts + (2 * limit + 1) + (limit + 1))
        #expect(endpoint.gate.inFlight == 0)
    }
}

/// Has another credential at each look, until one is written.
private final class ChangingStore: CredentialStore {
    private let base = MemoryCredentialStore()
    private let next: @Sendable () -> Credential

    init(_ next: @escaping @Sendable () -> Credential) { self.next = next }

    var takeOverDelay: TimeInterval { base.takeOverDelay }

    func load() async throws -> CredentialRecord? {
        try await base.load() ?? CredentialRecord(credential: next(), version: 1)
    }

    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        try await base.update { [next] record in
            try await body(record ?? CredentialRecord(credential: next(), version: 1))
        }
    }
}
