import AccessTokenAsync
import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestKeys
import TestSupport
import Testing

@testable import AccessTokenOAuth
@testable import LoopbackAuthorizationServer
@testable import OAuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A request with a token that is bound to a key", .takesTurns, .endsHangs)
struct BoundRequestTests {
    /// A session whose loader has a bound credential, and whose token endpoint nobody needs.
    final class Subject: Sendable {
        let service: AsyncAccessTokenService
        let loader: OAuthLoader
        let session: any TestedSession
        let store: MemoryCredentialStore

        convenience init(
            _ kind: SessionKind,
            _ server: ScriptedServer,
            keys: ProofKeys = .ofThisMachine,
            isBound: Bool = true,
            isRejected: @escaping @Sendable (BearerReply) -> Bool = { $0.status == 401 }
        ) throws {
            try self.init(kind, at: try server.url, keys: keys, isBound: isBound, isRejected: isRejected)
        }

        init(
            _ kind: SessionKind,
            at url: URL,
            keys: ProofKeys = .ofThisMachine,
            isBound: Bool = true,
            isRejected: @escaping @Sendable (BearerReply) -> Bool = { $0.status == 401 }
        ) throws {
            var response = TokenResponse(accessToken: AccessToken(value: "at"), refreshToken: "RT")
            if isBound { response = response.bound(to: try ProofKeys.ofThisMachine.make()) }
            store = MemoryCredentialStore(Credential(response))
            var endpoint = TokenEndpoint(
                url,
                authentication: .none(clientID: "app"),
                deadline: TokenEndpoint.deadline(by: nil)
            )
            endpoint.proofKeys = keys
            loader = OAuthLoader(endpoint: endpoint, store: store)
            service = AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline)
            session = kind.session(
                service,
                origins: [url],
                isRejected: isRejected,
                clock: SystemClock(),
                proofs: loader.proofs
            )
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `goes as DPoP, with a proof for this token, method and URL`(kind: SessionKind) async throws {
        try await withServer(replying: 200) { server in
            let subject = try Subject(kind, server)
            var request = URLRequest(url: try #require(URL(string: "\(try server.resource.absoluteString)?q=1#f")))
            request.httpMethod = "PUT"
            _ = try await subject.session.data(for: request)
            #expect(server.authorizations == ["DPoP at"])
            let proof = try #require(server.requests.first?.proof)
            #expect(proof["htm"] as? String == "PUT")
            #expect(proof["htu"] as? String == (try server.resource.absoluteString))
            #expect(proof["ath"] as? String == LoginSecret.challenge(of: "at"))
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `goes as Bearer if the token is bound to no key`(kind: SessionKind) async throws {
        try await withServer(replying: 200) { server in
            let subject = try Subject(kind, server, isBound: false)
            _ = try await subject.session.data(for: URLRequest(url: try server.resource))
            #expect(server.authorizations == ["Bearer at"])
            #expect(server.requests.first?.proof == nil)
        }
    }

    /// The server has looked at the proof, and not at the token: no renewal, whatever the app takes for a rejection.
    @Test(arguments: SessionKind.allCases, ["GET", "POST"])
    func `is sent once more with the server's nonce, and renews nothing`(
        kind: SessionKind,
        method: String
    ) async throws {
        try await withServer { connection, request in
            let isGood = request.nonce == "n1"
            let challenge = ["WWW-Authenticate": #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": "n1"]
            connection.reply(isGood ? 200 : 401, request.body, fields: isGood ? [:] : challenge)
        } _: { server in
            let subject = try Subject(kind, server) { $0.status != 200 }
            var request = URLRequest(url: try server.resource)
            request.httpMethod = method
            if method == "POST" { request.httpBody = Data("body".utf8) }
            for _ in 0..<3 {
                let (data, response) = try await subject.session.data(for: request)
                #expect(response.status == 200)
                #expect(String(decoding: data, as: UTF8.self) == (method == "POST" ? "body" : ""))
            }
            #expect(server.requests.map(\.nonce) == [nil, "n1", "n1", "n1"])
            #expect(Set(server.requests.compactMap { $0.proof?["jti"] as? String }).count == 4)
            #expect(server.authorizations.allSatisfy { $0 == "DPoP at" })
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `that is challenged for ever brings the challenge to the caller, and renews nothing`(
        kind: SessionKind
    ) async throws {
        try await withServer { connection, _ in
            let fields = ["WWW-Authenticate": #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": "n\(connection.number)"]
            connection.reply(401, "", fields: fields)
        } _: { server in
            let subject = try Subject(kind, server)
            for _ in 0..<4 {
                let (_, response) = try await subject.session.data(for: URLRequest(url: try server.resource))
                #expect(response.status == 401)
            }
            #expect(server.requests.count == 8)
            #expect(server.requests.allSatisfy { $0.line.hasPrefix("GET /resource") })
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `whose body is a stream is not sent again, and the next request has the nonce`(
        kind: SessionKind
    ) async throws {
        let nonces = Locked<[String?]>([])
        // The body comes in chunks, which the scripted server does not take.
        let server = try LoopbackHTTPServer(port: 0) { descriptor, _ in
            let head = String(decoding: descriptor.receive(upTo: 65_536), as: UTF8.self)
            let proof = head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("dpop: ") }?.dropFirst(6)
            let nonce = ReceivedRequest(proof: proof.map { String($0) }).nonce
            nonces.withLock { $0.append(nonce) }
            let connection = ScriptedConnection(number: 1, descriptor: descriptor)
            let challenge = ["WWW-Authenticate": #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": "n1"]
            connection.reply(nonce == "n1" ? 200 : 401, "", fields: nonce == "n1" ? [:] : challenge)
            connection.end()
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
        let subject = try Subject(kind, at: url)
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        for status in [401, 200] {
            request.httpBodyStream = InputStream(data: Data("body".utf8))
            #expect(try await subject.session.data(for: request).1.status == status)
        }
        #expect(nonces.withLock { $0 } == [nil, "n1"])
        await onThreadOfItsOwn { server.stop() }
    }

    /// The system itself may have sent the proof twice: a `GET` is sent again, and a request that changes something
    /// not.
    @Test(arguments: [("GET", 2), ("POST", 1)])
    func `whose proof is refused without a reason is sent again if that is safe`(
        method: String,
        count: Int
    ) async throws {
        try await withServer { connection, _ in
            let fields = ["WWW-Authenticate": #"DPoP error="invalid_dpop_proof""#]
            connection.reply(connection.number == 1 ? 401 : 200, "", fields: connection.number == 1 ? fields : [:])
        } _: { server in
            let subject = try Subject(.async, server)
            var request = URLRequest(url: try server.resource)
            request.httpMethod = method
            _ = try await subject.session.data(for: request)
            #expect(server.requests.count == count)
        }
    }

    @Test func `has a new proof at each hop of a redirect`() async throws {
        try await withServer { connection, request in
            let isFirst = request.line.hasPrefix("GET /resource ")
            connection.reply(isFirst ? 307 : 200, "", fields: isFirst ? ["Location": "/other"] : [:])
        } _: { server in
            let subject = try Subject(.async, server)
            _ = try await subject.session.data(for: URLRequest(url: try server.resource))
            let targets = server.requests.compactMap { $0.proof?["htu"] as? String }
            let host = try #require(server.requests.first?.fields["host"])
            #expect(targets == ["http://\(host)/resource", "http://\(host)/other"])
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `is renewed after a rejection of the token, and has the proof of the next one`(
        kind: SessionKind
    ) async throws {
        try await withServer { connection, request in
            if request.line.hasPrefix("POST /token") {
                return connection.reply(200, #"{"access_token":"at2","token_type":"DPoP"}"#)
            }
            let isGood = request.fields["authorization"] == "DPoP at2"
            let fields = ["WWW-Authenticate": #"DPoP error="invalid_token", algs="ES256""#]
            connection.reply(isGood ? 200 : 401, "", fields: isGood ? [:] : fields)
        } _: { server in
            let subject = try Subject(kind, server)
            let (_, response) = try await subject.session.data(for: URLRequest(url: try server.resource))
            #expect(response.status == 200)
            #expect(server.requests.count == 3)
            #expect(server.requests[2].proof?["ath"] as? String == LoginSecret.challenge(of: "at2"))
        }
    }

    #if canImport(FoundationNetworking)
    /// A proof is good for a short time, and its nonce may be replaced while the request waits.
    @Test func `has a proof of the moment when there is a connection for it`() async throws {
        try await withServer(replying: 200) { server in
            let (subject, url) = (try Subject(.async, server), try server.resource)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = 1
            let proofs = subject.loader.proofs
            let transport = BearerTransport(
                origins: [url],
                allowsInsecureHTTP: false,
                configuration: configuration,
                bodyLimit: 100,
                proofs: proofs
            )
            let place = Locked<ConnectionGate.Place?>(nil)
            transport.connections.gate.enter { taken in place.withLock { $0 = taken } }
            let token = try await subject.service.token()
            let prover = try await proofs.prover(for: token)
            let isOver = Event()
            transport.send(URLRequest(url: url), with: token, by: prover, until: Latch()) { _ in isOver.happen() }
            while transport.connections.gate.waiting == 0 { await Task.yield() }
            proofs.memory[url].keep { $0.nonce = "n1" }
            _ = place.withLock { $0.take() }
            await isOver.wait()
            #expect(server.requests.map(\.nonce) == ["n1"])
        }
    }
    #endif

    @Test func `has the field of nobody else`() async throws {
        try await withServer(replying: 200) { server in
            let subject = try Subject(.async, server)
            var request = URLRequest(url: try server.resource)
            request.setValue("own", forHTTPHeaderField: "DPoP")
            await #expect(throws: BearerSessionError.authorizationAlreadySet) {
                try await subject.session.data(for: request)
            }
            #expect(server.requests.isEmpty)
        }
    }

    // MARK: Keys

    @Test(arguments: SessionKind.allCases)
    func `is not sent if the key is lost, and the error asks for a login`(kind: SessionKind) async throws {
        try await withServer(replying: 200) { server in
            let subject = try Subject(kind, server, keys: .ofThisMachine(read: { _ in false }))
            let error = await #expect(throws: OAuthError.proofKeyLost) {
                try await subject.session.data(for: URLRequest(url: try server.resource))
            }
            #expect(error?.requiresSignIn == true)
            #expect(server.requests.isEmpty)
        }
    }

    /// A new login gives up the key of the former session, of which another service may still have the token.
    @Test(arguments: SessionKind.allCases)
    func `goes with the next token if its key was given up for that of a new login`(kind: SessionKind) async throws {
        try await withServer(replying: 200) { server in
            let removed = Locked<Set<Data>>([])
            let keys = ProofKeys.ofThisMachine(
                read: { key in removed.withLock { !$0.contains(key) } },
                removed: { key in removed.withLock { _ = $0.insert(key) } }
            )
            let subject = try Subject(kind, server, keys: keys)
            _ = try await subject.session.data(for: URLRequest(url: try server.resource))
            let response = TokenResponse(accessToken: AccessToken(value: "at2"), refreshToken: "RT2")
            try await subject.loader.signIn(Credential(response.bound(to: try ProofKeys.ofThisMachine.make())))
            _ = try await subject.session.data(for: URLRequest(url: try server.resource))
            #expect(server.authorizations == ["DPoP at", "DPoP at2"])
        }
    }

    /// The app may have given the service a token by itself.
    @Test func `finds the key of a token that the loader has not handed out`() async throws {
        try await withServer(replying: 200) { server in
            let subject = try Subject(.async, server)
            await subject.service.signIn(AccessToken(value: "at"))
            _ = try await subject.session.data(for: URLRequest(url: try server.resource))
            #expect(server.authorizations == ["DPoP at"])
        }
    }

    /// A sign-out, perhaps of another process, between the token and the proof: nobody knows the key any more.
    @Test(arguments: SessionKind.allCases)
    func `is not sent as Bearer when its session has ended`(kind: SessionKind) async throws {
        try await withServer(replying: 200) { server in
            let subject = try Subject(kind, server)
            await subject.service.signIn(AccessToken(value: "at"))
            try await subject.store.update { _ in .remove }
            await #expect(throws: AccessTokenError.signedOut) {
                try await subject.session.data(for: URLRequest(url: try server.resource))
            }
            #expect(server.requests.isEmpty)
        }
    }

    /// Another process may have logged in anew: the token of the former session goes with the former key.
    @Test func `has the key of its own token, after another login as well`() async throws {
        try await withServer(replying: 200) { server in
            let subject = try Subject(.async, server)
            _ = try await subject.session.data(for: URLRequest(url: try server.resource))
            let other = TokenResponse(accessToken: AccessToken(value: "at2"), refreshToken: "RT2")
                .bound(to: try ProofKeys.ofThisMachine.make())
            try await subject.store.update { _ in .replace(Credential(other)) }
            _ = try await subject.session.data(for: URLRequest(url: try server.resource))
            await subject.service.invalidate(AccessToken(value: "at"))
            _ = try await subject.session.data(for: URLRequest(url: try server.resource))
            #expect(server.authorizations == ["DPoP at", "DPoP at", "DPoP at2"])
            let keys = server.requests.compactMap { request in
                request.fields["dpop"]?.split(separator: ".").first.map(String.init)
            }
            #expect(keys.count == 3 && keys[0] == keys[1] && keys[1] != keys[2])
        }
    }

    // MARK: Other clients

    @Test func `of another HTTP client has the same fields, and learns nonces by its replies`() async throws {
        try await withServer(replying: 200) { server in
            let subject = try Subject(.async, server)
            let token = try await subject.service.token()
            let url = try server.resource
            let fields = try await subject.loader.proofs.fields("GET", url, with: token)
            #expect(fields.keys.sorted() == ["Authorization", "DPoP"])
            #expect(fields["Authorization"] == "DPoP at")
            let challenge = ["WWW-Authenticate": #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": "n1"]
            #expect(subject.loader.proofs.wantsRepeat(status: 401, from: url) { challenge[$0] })
            #expect(!subject.loader.proofs.wantsRepeat(status: 401, from: url) { _ in nil })
            // What a resource says with other statuses is its own matter.
            let body = Data(#"{"error":"use_dpop_nonce"}"#.utf8)
            for status in [200, 403, 503] {
                #expect(!subject.loader.proofs.wantsRepeat(status: status, from: url, body: body) { challenge[$0] })
            }
            #expect(!subject.loader.proofs.wantsRepeat(status: 200, from: url) { ["DPoP-Nonce": "n2"][$0] })
            let next = try await subject.loader.proofs.fields("GET", url, with: token)
            let request = ReceivedRequest(proof: next["DPoP"])
            #expect(request.nonce == "n2")
        }
    }

    /// Many requests are sent at once, each with a proof of the device's time, which is wrong.
    @Test func `of another HTTP client is sent again with the server's time, however many there are`() async throws {
        try await withServer(replying: 200) { server in
            let subject = try Subject(.async, server)
            let url = try server.resource
            let fields = [
                "WWW-Authenticate": #"DPoP error="invalid_dpop_proof""#,
                "Date": HTTPDate.text(.now.addingTimeInterval(-300)),
            ]
            let proofs = subject.loader.proofs
            let token = try await subject.service.token()
            for _ in 0..<3 { _ = try await proofs.fields("GET", url, with: token) }
            for _ in 0..<3 { #expect(proofs.wantsRepeat(status: 401, from: url) { fields[$0] }) }
            let next = try await proofs.fields("GET", url, with: token)
            let iat = ReceivedRequest(proof: next["DPoP"]).proof?["iat"] as? Double ?? 0
            #expect(abs(Date.now.timeIntervalSince1970 - 300 - iat) < 30)
        }
    }

    /// A server that judges by the right time, and whose `Date` is wrong by an hour.
    ///
    /// Refused for a reason that passes: the first, and as many as were on their way. Some replies never come.
    @Test(arguments: [(together: 1, lost: 0), (together: 5, lost: 0), (together: 2, lost: 100)])
    func `of another HTTP client believes a wrong Date no longer than the proofs last that were on their way`(
        _ row: (together: Int, lost: Int)
    ) async throws {
        let url = try #require(URL(string: "https://api.example/notes"))
        let subject = try Subject(.async, at: url)
        let (proofs, token) = (subject.loader.proofs, try await subject.service.token())
        /// Whether the proof has the right time.
        func send() async throws -> Bool {
            let proof = ReceivedRequest(proof: try await proofs.fields("GET", url, with: token)["DPoP"]).proof
            return abs(Date.now.timeIntervalSince1970 - (proof?["iat"] as? Double ?? 0)) < 30
        }
        func refuse() -> Bool {
            let date = HTTPDate.text(.now.addingTimeInterval(3600))
            let fields = ["WWW-Authenticate": #"DPoP error="invalid_dpop_proof""#, "Date": date]
            return proofs.wantsRepeat(status: 401, from: url) { fields[$0] }
        }
        for _ in 0..<row.together + row.lost { #expect(try await send()) }
        for _ in 0..<row.together { #expect(refuse()) }
        var refusals = 0
        while try await !send(), refusals < 100 {
            _ = refuse()
            refusals += 1
        }
        // One, and one for each reply that was due and has not come, up to 32.
        let due = row.together - 1
        #expect(refusals == 1 + min(due + row.lost, 32) - due)
    }
}
