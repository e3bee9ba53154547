import AccessTokenAsync
import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import LoopbackAuthorizationServer
import TestKeys
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How a server may count the uses of its nonces.
private let demands: [ProofDemand] = [
    ProofDemand(nonceUses: 1), ProofDemand(nonceUses: 1, takesFormerNonce: false), ProofDemand(nonceUses: 3),
    ProofDemand(nonceUses: 1, takesFormerNonce: false, namesNonceAlways: false),
]

/// A server with nonces of its own kind at one origin; it looks at nothing else of a proof.
private final class NonceServer: Sendable {
    enum Kind: CaseIterable, Sendable {
        /// The present one is good once; refusals name it again.
        case presentOnce
        /// Each reply names another one, also each refusal, and only the last one that was named is good.
        case lastNamed
        /// Each reply names another one, and each of them is good once.
        case anyOnce
        /// None is ever good.
        case never
    }

    private struct State {
        var count = 0
        var good: Set<String> = []
        var present: String { "n\(count)" }
        /// How often each request has come, by its target.
        var arrivals: [String: Int] = [:]
    }

    private let kind: Kind
    private let state = Locked(State())

    init(_ kind: Kind) { self.kind = kind }

    var mostArrivals: Int { state.withLock { $0.arrivals.values.max() ?? 0 } }
    var allArrivals: Int { state.withLock { $0.arrivals.values.reduce(0, +) } }

    func answer(_ connection: ScriptedConnection, _ request: ReceivedRequest) {
        let (isGood, next) = state.withLock { [kind] state in
            state.arrivals[request.line, default: 0] += 1
            let isGood: Bool
            switch kind {
            case .presentOnce: isGood = request.nonce == state.present
            case .lastNamed: isGood = request.nonce == state.present
            case .anyOnce: isGood = request.nonce.map { state.good.remove($0) != nil } ?? false
            case .never: isGood = false
            }
            if isGood || kind != .presentOnce { state.count += 1 }
            state.good.insert(state.present)
            return (isGood, state.present)
        }
        var fields = ["DPoP-Nonce": next]
        if !isGood { fields["WWW-Authenticate"] = #"DPoP error="use_dpop_nonce""# }
        connection.reply(isGood ? 200 : 401, "", fields: fields)
    }
}

@Suite("A server that takes each nonce once", .takesTurns, .endsHangs)
struct SingleUseNonceTests {
    /// The statuses of as many requests at once.
    private func statuses(_ count: Int, _ sessions: [any TestedSession], at url: URL) async throws -> [Int: Int] {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                group.addTask {
                    let url = try #require(URL(string: "\(url.absoluteString)?number=\(number)"))
                    return try await sessions[number % sessions.count].data(for: URLRequest(url: url)).1.status
                }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    // MARK: Sessions

    @Test(arguments: SessionKind.allCases.flatMap { kind in demands.indices.map { (kind, $0) } }.oneOf(3))
    func `is asked by twenty callers at once, and answers them all`(kind: SessionKind, index: Int) async throws {
        try await withBoundServer(demands[index]) { server in
            let endpoint = server.boundEndpoint()
            let loader = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore())
            let service = AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline)
            try await loader.signIn(try await server.logIn(endpoint), to: service)
            let session = kind.session(service, origins: [server.resource], proofs: loader.proofs)
            let before = server.tally.tokenRequests
            for round in 1...2 {
                let refused = server.tally.refusedProofs
                #expect(try await statuses(20, [session], at: server.resource) == [200: 20])
                // Who was on the way when this was found out is sent four times at most. Later requests go in turn.
                let most = round == 1 ? 60 : 20
                #expect(server.tally.refusedProofs - refused <= most)
            }
            #expect(server.tally.tokenRequests == before)
        }
    }

    @Test(arguments: NonceServer.Kind.allCases)
    private func `has whatever nonces, and is sent no request more than four times`(_ kind: NonceServer.Kind)
        async throws
    {
        let nonces = NonceServer(kind)
        try await withServer(keepsRequests: false, nonces.answer) { server in
            let subject = try BoundRequestTests.Subject(.async, at: try server.url)
            for _ in 0..<2 {
                let statuses = try await statuses(20, [subject.session], at: try server.resource)
                #expect(statuses == [kind == .never ? 401 : 200: 20])
            }
            // The second time, a request is sent twice at most.
            #expect(nonces.mostArrivals <= 4 + 2)
        }
    }

    /// Each of them asks one thing at a time, and knows nothing of the other.
    @Test func `is asked by two sessions that share nothing, and sends nobody to renew`() async throws {
        let nonces = NonceServer(.presentOnce)
        try await withServer(keepsRequests: false, nonces.answer) { server in
            let subjects = try (0..<2).map { _ in try BoundRequestTests.Subject(.async, at: try server.url) }
            let statuses = try await statuses(40, subjects.map(\.session), at: try server.resource)
            #expect(Set(statuses.keys).isSubset(of: [200, 401]))
            #expect(nonces.mostArrivals <= 8)
            for subject in subjects { #expect(try await subject.store.refreshToken == "RT") }
        }
    }

    /// Brings a session to ask one thing at a time.
    private func narrow(_ proofs: TokenProofs, at url: URL) async throws {
        let turn = try await proofs.memory[url].turn(atMost: nil, by: SystemClock())
        turn.end(.contested)
    }

    /// The head of the line is given up, or what waits behind it.
    @Test(arguments: SessionKind.allCases)
    func `is not asked by callers that have left, and the others go on`(kind: SessionKind) async throws {
        let (isHeld, isFirst) = (Gate(), Event())
        try await withServer { connection, request in
            if request.line.contains("first") {
                isFirst.happen()
                isHeld.pass()
            }
            connection.reply(200, "")
        } _: { server in
            let subject = try BoundRequestTests.Subject(kind, server)
            let url = try server.resource
            let origin = subject.loader.proofs.memory[url]
            try await narrow(subject.loader.proofs, at: url)
            let tasks = ["first", "second", "third"].map { name in
                Task {
                    if name != "first" { await isFirst.wait() }
                    if name == "third" { await yieldUntil { origin.waiting == 1 } }
                    let url = try #require(URL(string: "\(url.absoluteString)?\(name)"))
                    return try await subject.session.data(for: URLRequest(url: url)).1.status
                }
            }
            await isFirst.wait()
            await yieldUntil { origin.waiting == 2 }
            tasks[1].cancel()
            await #expect(throws: URLError(.cancelled)) { try await tasks[1].value }
            #expect(origin.waiting == 1)
            #expect(server.requests.count == 1)
            tasks[0].cancel()
            await #expect(throws: URLError(.cancelled)) { try await tasks[0].value }
            #expect(try await tasks[2].value == 200)
            isHeld.open()
            #expect(server.requests.count == 2)
        }
    }

    /// A body from a stream is not sent again; its turn ends all the same, and so does that of a lost connection.
    @Test func `is asked the next thing after a reply that helps nobody`() async throws {
        try await withServer { connection, request in
            if request.line.contains("lost") { return }
            connection.reply(request.line.contains("body") ? 401 : 200, #"{"error":"use_dpop_nonce"}"#)
        } _: { server in
            let subject = try BoundRequestTests.Subject(.async, server)
            let url = try server.resource
            try await narrow(subject.loader.proofs, at: url)
            for (name, status) in [("lost", nil), ("body", 401), ("last", 200)] as [(String, Int?)] {
                let url = try #require(URL(string: "\(url.absoluteString)?\(name)"))
                let reply = try? await subject.session.data(for: URLRequest(url: url)).1
                #expect(reply?.status == status)
            }
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `is asked the next thing after a proof that could not be made`(kind: SessionKind) async throws {
        struct Broken: Error {}
        let keys = ProofKeys {
            throw Broken()
        } read: { stored in
            try ProofKey(stored: stored, publicKey: Data([4]) + Data(count: 64)) { _ in throw Broken() }
        }
        try await withServer(replying: 200) { server in
            let subject = try BoundRequestTests.Subject(kind, server, keys: keys)
            let url = try server.resource
            try await narrow(subject.loader.proofs, at: url)
            for _ in 0..<2 {
                await #expect(throws: Broken.self) { try await subject.session.data(for: URLRequest(url: url)) }
            }
            #expect(server.requests.isEmpty)
        }
    }

    /// Its own challenge may be older than the reply to the other one, also if that one is back before the repeat.
    @Test(arguments: [false, true])
    func `has a request begin again whose repeat is refused, if another one was on its way`(isCrowd: Bool) async throws
    {
        let url = try #require(URL(string: "https://api.example/notes"))
        let (memory, clock) = (ProofMemory(), ManualClock())
        let other = isCrowd ? try await memory[url].turn(atMost: nil, by: clock) : nil
        let body = Data(#"{"error":"use_dpop_nonce"}"#.utf8)
        let challenge = ProofReply(status: 401, body: body, at: clock.now) { ["DPoP-Nonce": "n1"][$0] }
        let prover = try await Prover(key: try ProofKeys.ofThisMachine.make(), memory: memory).inTurn(
            at: url,
            by: clock
        )
        let again = try #require(try prover.attempt(for: "GET", url, at: clock.now).next(after: challenge))
        other?.end(.taken)
        let anew = try again.attempt(for: "GET", url, at: clock.now).next(after: challenge)
        #expect((anew != nil) == isCrowd)
        guard let anew else { return }
        // Alone, it is repeated once more.
        let alone = try await anew.inTurn(at: url, by: clock)
        let last = try #require(try alone.attempt(for: "GET", url, at: clock.now).next(after: challenge))
        #expect(try last.attempt(for: "GET", url, at: clock.now).next(after: challenge) == nil)
        #expect(memory[url].waiting == 0)
    }

    // MARK: The token endpoint

    @Test(arguments: demands.indices)
    func `issues twenty tokens at once`(index: Int) async throws {
        let client = AuthorizationServerClient.confidential("machine", secret: "s")
        let server = try RotatingAuthorizationServer(clients: [client], proofs: demands[index])
        defer { server.stop() }
        var endpoint = server.boundEndpoint()
        endpoint.authentication = .basic(clientID: "machine", secret: "s")
        for _ in 0..<2 {
            let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { [endpoint] group in
                for _ in 0..<20 { group.addTask { try await endpoint.exchange(.clientCredentials()).accessToken } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(tokens.count == 20)
        }
    }

    /// Nothing was sent, and another process may send the same refresh token when the time is over.
    @Test func `is asked nothing by a caller that has waited for half of the deadline`() async throws {
        try await withServer(replying: 200, #"{"access_token":"A","token_type":"DPoP"}"#) { server in
            let clock = ManualClock()
            var endpoint = try server.endpoint(clock: clock)
            endpoint.proofKeys = .ofThisMachine
            let origin = endpoint.proofMemory[try server.url]
            try await origin.turn(atMost: nil, by: clock).end(.contested)
            let head = try await origin.turn(atMost: nil, by: clock)
            let waiter = Task { [endpoint] in try await endpoint.exchange(.clientCredentials()) }
            await yieldUntil { origin.waiting == 1 }
            clock.advance(by: endpoint.deadline / 2 + 1)
            let error = await #expect(throws: OAuthError.self) { try await waiter.value }
            #expect(error?.isTransient == true && error?.mayHaveBeenCarriedOut == false)
            let cancelled = Task { [endpoint] in try await endpoint.exchange(.clientCredentials()) }
            await yieldUntil { origin.waiting == 1 }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            #expect(origin.waiting == 0)
            #expect(server.requests.isEmpty)
            head.end(.other)
            _ = try await endpoint.exchange(.clientCredentials())
            #expect(server.requests.count == 1)
        }
    }
}
