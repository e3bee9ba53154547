import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestKeys
import TestSupport
import Testing

@testable import AccessTokenOAuth
@testable import LoopbackAuthorizationServer

@Suite("A server that wants another proof", .takesTurns, .endsHangs)
struct NonceTests {
    private static let good = #"{"access_token":"A","token_type":"DPoP","refresh_token":"RT"}"#

    /// How servers say it: with 400 or 401, in the body, in a challenge, in both, in the wrong scheme.
    static let challenges: [(status: Int, body: String, challenge: String?)] = [
        (400, #"{"error":"use_dpop_nonce"}"#, nil), (401, #"{"error":"use_dpop_nonce"}"#, nil),
        (401, "", #"DPoP error="use_dpop_nonce", algs="ES256""#), (401, "", #"Bearer error="use_dpop_nonce""#),
        (401, #"{"error":"use_dpop_nonce"}"#, #"DPoP error="use_dpop_nonce""#),
        // A nonce that has grown old, to some servers.
        (400, #"{"error":"invalid_dpop_proof"}"#, nil),
    ]

    private func bound(_ server: ScriptedServer, clock: (any AccessTokenClock)? = nil) throws -> TokenEndpoint {
        var endpoint = try server.endpoint(clock: clock)
        endpoint.proofKeys = .ofThisMachine
        return endpoint
    }

    private func session(_ store: MemoryCredentialStore, _ endpoint: TokenEndpoint) throws -> OAuthLoader {
        OAuthLoader(endpoint: endpoint, store: store)
    }

    private func credential() throws -> Credential {
        Credential(
            TokenResponse(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")
                .bound(to: try ProofKeys.ofThisMachine.make())
        )
    }

    @Test(arguments: challenges.indices)
    func `is sent the request once more, with its nonce and a new proof`(index: Int) async throws {
        let challenge = Self.challenges[index]
        try await withServer { connection, _ in
            guard connection.number == 1 else { return connection.reply(200, Self.good) }
            var fields = ["DPoP-Nonce": "n1"]
            fields["WWW-Authenticate"] = challenge.challenge
            connection.reply(challenge.status, challenge.body, fields: fields)
        } _: { server in
            let store = MemoryCredentialStore(try credential())
            _ = try await session(store, bound(server)).load(replacing: AccessToken(value: "A0"))
            #expect(server.requests.map(\.nonce) == [nil, "n1"])
            let numbers = server.requests.compactMap { $0.proof?["jti"] as? String }
            #expect(Set(numbers).count == 2)
            #expect(Set(server.requests.map(\.body)).count == 1)
            #expect(try await store.refreshToken == "RT")
        }
    }

    /// The refresh token is not spent, and neither is the session over: the same request may succeed later.
    @Test func `for ever is answered once more, and keeps the refresh token`() async throws {
        try await withServer { connection, _ in
            connection.reply(400, #"{"error":"use_dpop_nonce"}"#, fields: ["DPoP-Nonce": "n\(connection.number)"])
        } _: { server in
            let credential = try credential()
            let store = MemoryCredentialStore(credential)
            let loader = try session(store, bound(server))
            for count in 1...2 {
                let error = await #expect(throws: OAuthError.self) {
                    try await loader.load(replacing: AccessToken(value: "A0"))
                }
                #expect(error?.isTransient == true && error?.code == "use_dpop_nonce")
                #expect(error?.requiresSignIn == false && error?.mayHaveBeenCarriedOut == false)
                #expect(server.requests.count == 2 * count)
            }
            #expect(server.requests.map(\.nonce) == [nil, "n1", "n2", "n3"])
            #expect(try await store.credential == credential)
        }
    }

    @Test(arguments: [[:], ["DPoP-Nonce": ""], ["DPoP-Nonce": "a b"], ["DPoP-Nonce": #"a"b"#]])
    func `and names no nonce that there can be, is asked no second time`(fields: [String: String]) async throws {
        try await withServer { connection, _ in
            connection.reply(400, #"{"error":"use_dpop_nonce"}"#, fields: fields)
        } _: { server in
            let endpoint = try bound(server)
            let error = await #expect(throws: OAuthError.self) { try await endpoint.exchange(.clientCredentials()) }
            #expect(error?.isTransient == true)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `by a nonce that is too long for a header field is asked no second time`() async throws {
        try await withServer { connection, _ in
            let nonce = String(repeating: "n", count: 3000)
            connection.reply(400, #"{"error":"use_dpop_nonce"}"#, fields: ["DPoP-Nonce": nonce])
        } _: { server in
            let endpoint = try bound(server)
            _ = try? await endpoint.exchange(.clientCredentials())
            #expect(server.requests.count == 1)
        }
    }

    @Test func `without a nonce is told so by an error that says what to do`() async throws {
        try await withServer(replying: 400, #"{"error":"use_dpop_nonce"}"#) { server in
            let endpoint = try server.endpoint()
            let error = await #expect(throws: OAuthError.self) { try await endpoint.exchange(.clientCredentials()) }
            #expect(error?.isConfigurationMistake == true)
            #expect(error.map { "\($0)".contains("proofKeys") } == true)
        }
    }

    /// Some servers never name a nonce when they refuse, and others only then.
    @Test(arguments: [200, 400, 503])
    func `is believed in every reply, also of another request`(status: Int) async throws {
        try await withServer { connection, _ in
            let isFirst = connection.number == 1
            let body = !isFirst || status == 200 ? Self.good : #"{"error":"invalid_scope"}"#
            connection.reply(isFirst ? status : 200, body, fields: ["DPoP-Nonce": "n\(connection.number)"])
        } _: { server in
            let endpoint = try bound(server)
            _ = try? await endpoint.exchange(.clientCredentials())
            _ = try await endpoint.exchange(.clientCredentials())
            // A sign-out as well; copies of an endpoint share what it knows.
            try await endpoint.revoke("RT")
            var copy = endpoint
            copy.authentication = .none(clientID: "other")
            _ = try await copy.exchange(.clientCredentials())
            #expect(server.requests.map(\.nonce) == [nil, "n1", nil, "n3"])
        }
    }

    @Test func `has a nonce of its own at each origin`() async throws {
        let script: ScriptedServer.Script = { connection, request in
            let port = request.fields["host"] ?? ""
            connection.reply(200, Self.good, fields: ["DPoP-Nonce": "n-\(port)"])
        }
        try await withServer(script) { first in
            try await withServer(script) { second in
                var endpoint = try bound(first)
                for server in [first, second, first, second] {
                    endpoint.url = try server.url
                    _ = try await endpoint.exchange(.clientCredentials())
                }
                for server in [first, second] {
                    let host = try #require(server.requests.first?.fields["host"])
                    #expect(server.requests.map(\.nonce) == [nil, "n-\(host)"])
                }
            }
        }
    }

    /// An assertion has a number of its own, which is good for once.
    @Test func `gets another assertion of the client as well`() async throws {
        let made = Locked(0)
        try await withServer { connection, _ in
            guard connection.number == 1 else { return connection.reply(200, Self.good) }
            connection.reply(400, #"{"error":"use_dpop_nonce"}"#, fields: ["DPoP-Nonce": "n1"])
        } _: { server in
            var endpoint = try bound(server)
            endpoint.authentication = .assertion(clientID: "app") {
                made.withLock { count in
                    count += 1
                    return "assertion-\(count)"
                }
            }
            _ = try await endpoint.exchange(.clientCredentials())
            for number in 1...2 {
                #expect(server.requests[number - 1].body.contains("client_assertion=assertion-\(number)"))
            }
        }
    }

    @Test(arguments: [-75.0, 60, 7200])
    func `of another time is sent a proof of that time, once and from then on`(offset: TimeInterval) async throws {
        let clock = ManualClock()
        let date = HTTPDate.text(clock.now.addingTimeInterval(offset))
        try await withServer { connection, request in
            let iat = request.proof?["iat"] as? Double ?? 0
            let isRight = abs(iat - clock.now.addingTimeInterval(offset).timeIntervalSince1970) < 30
            let refusal = #"{"error":"invalid_dpop_proof"}"#
            connection.reply(isRight ? 200 : 400, isRight ? Self.good : refusal, fields: ["Date": date])
        } _: { server in
            let endpoint = try bound(server, clock: clock)
            _ = try await endpoint.exchange(.clientCredentials())
            _ = try await endpoint.exchange(.clientCredentials())
            #expect(server.requests.count == 3)
        }
    }

    /// Some servers take no proof of the future, not even of the next second.
    @Test(arguments: [-1.0, -1.7, -4])
    func `of a time that is a little earlier is sent no proof of its future`(offset: TimeInterval) async throws {
        let clock = ManualClock()
        let now = clock.now.addingTimeInterval(offset)
        try await withServer { connection, request in
            let iat = request.proof?["iat"] as? Double ?? .infinity
            let isPast = iat <= now.timeIntervalSince1970
            let refusal = #"{"error":"invalid_dpop_proof"}"#
            connection.reply(isPast ? 200 : 400, isPast ? Self.good : refusal, fields: ["Date": HTTPDate.text(now)])
        } _: { server in
            let endpoint = try bound(server, clock: clock)
            _ = try await endpoint.exchange(.clientCredentials())
            #expect(server.requests.count == 2)
        }
    }

    /// A server that judges by the right time, and whose `Date` is wrong by an hour.
    private func withWrongDate(
        _ refusals: [(number: Int, body: String, fields: [String: String])],
        _ body: (ScriptedServer, TokenEndpoint) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let date = HTTPDate.text(clock.now.addingTimeInterval(3600))
        try await withServer { connection, request in
            let iat = request.proof?["iat"] as? Double ?? 0
            let isRight = abs(iat - clock.now.timeIntervalSince1970) < 30
            var (fields, refusal) = (["Date": date], isRight ? nil : #"{"error":"invalid_dpop_proof"}"#)
            if let next = refusals.first(where: { $0.number == connection.number }) {
                refusal = next.body
                fields.merge(next.fields) { $1 }
            }
            connection.reply(refusal == nil ? 200 : 400, refusal ?? Self.good, fields: fields)
        } _: { server in
            try await body(server, try bound(server, clock: clock))
        }
    }

    @Test func `and whose Date is wrong gets the device's own time with its nonce`() async throws {
        let challenge = (1, #"{"error":"use_dpop_nonce"}"#, ["DPoP-Nonce": "n1"])
        try await withWrongDate([challenge]) { server, endpoint in
            _ = try await endpoint.exchange(.clientCredentials())
            #expect(server.requests.map(\.nonce) == [nil, "n1"])
        }
    }

    /// With a reason that passes, and with a nonce in each reply or in none.
    @Test(arguments: [[:], ["DPoP-Nonce": "n"]])
    func `and whose Date is wrong is believed once, and no longer`(fields: [String: String]) async throws {
        try await withWrongDate([(1, #"{"error":"invalid_dpop_proof"}"#, fields)]) { server, endpoint in
            await #expect(throws: OAuthError.self) { try await endpoint.exchange(.clientCredentials()) }
            _ = try await endpoint.exchange(.clientCredentials())
            #expect(server.requests.count == 3)
        }
    }

    /// A device whose clock was wrong, and that was set right later.
    @Test func `has a clock that agrees again gets the device's own time again`() async throws {
        let clock = ManualClock()
        let server = Locked(clock.now.addingTimeInterval(600))
        try await withServer { connection, request in
            let now = server.withLock { $0 }
            let iat = request.proof?["iat"] as? Double ?? 0
            let isRight = abs(iat - now.timeIntervalSince1970) < 30
            let refusal = #"{"error":"invalid_dpop_proof"}"#
            let fields = ["Date": HTTPDate.text(now)]
            connection.reply(isRight ? 200 : 400, isRight ? Self.good : refusal, fields: fields)
        } _: { scripted in
            let endpoint = try bound(scripted, clock: clock)
            _ = try await endpoint.exchange(.clientCredentials())
            server.withLock { $0 = clock.now }
            _ = try await endpoint.exchange(.clientCredentials())
            _ = try await endpoint.exchange(.clientCredentials())
            #expect(scripted.requests.count == 5)
        }
    }

    @Test func `for a reason that no other proof mends is asked once, and the error says where to look`() async throws {
        try await withServer(replying: 400, #"{"error":"invalid_dpop_proof"}"#) { server in
            let endpoint = try bound(server)
            let error = await #expect(throws: OAuthError.self) { try await endpoint.exchange(.clientCredentials()) }
            #expect(error?.isConfigurationMistake == true && error?.requiresSignIn == false)
            #expect(error.map { "\($0)".contains("clock") } == true)
            #expect(server.requests.count == 1)
        }
    }

    /// A reply may repeat the proof, as some servers do to say what they have against it.
    @Test func `and repeats the proof has it in no error`() async throws {
        try await withServer { connection, request in
            let proof = request.fields["dpop"] ?? ""
            connection.reply(400, #"{"error":"invalid_dpop_proof","error_description":"\#(proof)"}"#)
        } _: { server in
            let endpoint = try bound(server)
            let error = await #expect(throws: OAuthError.self) { try await endpoint.exchange(.clientCredentials()) }
            let proof = try #require(server.requests.first?.fields["dpop"])
            #expect(error?.serverExplanation?.contains(proof.prefix(40)) == false)
        }
    }

    /// The second request gets what is left of the time of the first: after that, another process may send the token.
    @Test(arguments: [(passed: 119, requests: 2), (passed: 119.5, requests: 1)])
    func `is sent the request again in what is left of its time, and not for less than a second`(
        _ row: (passed: TimeInterval, requests: Int)
    ) async throws {
        let (clock, isTested) = (ManualClock(), Gate())
        try await withServer { connection, _ in
            // Nobody answers the second request.
            guard connection.number == 1 else { return isTested.pass() }
            clock.advance(by: row.passed)
            connection.reply(400, #"{"error":"use_dpop_nonce"}"#, fields: ["DPoP-Nonce": "n1"])
        } _: { server in
            defer { isTested.open() }
            let endpoint = try bound(server, clock: clock)
            let isOver = Event()
            let isTimedOut = Locked(false)
            let key = try ProofKeys.ofThisMachine.make()
            try await endpoint.send([], to: server.url, provedBy: key, limit: 120) { result, _ in
                if case .failure(.timedOut) = result { isTimedOut.withLock { $0 = true } }
                isOver.happen()
            }
            await isOver.wait()
            #expect(server.requests.count == row.requests)
            #expect(isTimedOut.withLock { $0 } == (row.requests == 2))
        }
    }

    // MARK: What is kept

    /// It may be good for one request, and other replies come in between.
    @Test func `is sent the very nonce of its challenge`() throws {
        let url = try #require(URL(string: "https://as.example/token"))
        let memory = ProofMemory()
        let prover = Prover(key: try ProofKeys.ofThisMachine.make(), memory: memory)
        let body = Data(#"{"error":"use_dpop_nonce"}"#.utf8)
        let challenge = ProofReply(status: 400, body: body, at: .now) { ["DPoP-Nonce": "n1"][$0] }
        let next = try #require(prover.attempt(for: "POST", url, at: .now).next(after: challenge))
        memory[url].keep { $0.nonce = "n2" }
        #expect(ReceivedRequest(proof: try next.attempt(for: "POST", url, at: .now).proof).nonce == "n1")
        #expect(ReceivedRequest(proof: try prover.attempt(for: "POST", url, at: .now).proof).nonce == "n2")
    }

    /// A server may send a client from one origin to the next.
    @Test func `is forgotten among very many`() throws {
        let memory = ProofMemory()
        let urls = try (0..<1000).map { try #require(URL(string: "https://\($0).example/")) }
        for url in urls { memory[url].keep { $0.nonce = "n" } }
        // Backwards: who asks for one that is forgotten makes room for it.
        let kept = urls.reversed().filter { memory[$0].known.nonce != nil }
        #expect(kept.count <= 256 && kept.first == urls.last)
    }
}
