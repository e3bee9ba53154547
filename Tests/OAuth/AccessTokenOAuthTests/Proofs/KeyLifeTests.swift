import AccessTokenAsync
import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestKeys
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("The key of a session", .takesTurns, .endsHangs)
struct KeyLifeTests {
    private let old = AccessToken(value: "A0")

    private func bound(subject: String? = nil) throws -> Credential {
        let response = TokenResponse(accessToken: old, refreshToken: "RT0", scope: "read")
        return Credential(response.bound(to: try ProofKeys.ofThisMachine.make())).of(subject)
    }

    private func endpoint(_ server: ScriptedServer, _ keys: ProofKeys? = .ofThisMachine) throws -> TokenEndpoint {
        var endpoint = try server.endpoint()
        endpoint.proofKeys = keys
        return endpoint
    }

    private static let rotating: ScriptedServer.Script = { connection, request in
        let number = connection.number
        let tokens = #"{"access_token":"A\#(number)","token_type":"DPoP","refresh_token":"RT\#(number)"}"#
        connection.reply(200, request.line.contains("/revoke") ? "{}" : tokens)
    }

    private func kept(_ credential: Credential?) -> Data? { credential?.proofKey }

    // MARK: In the record

    /// Code of before would leave the key out when it writes the record, and the session would be over.
    @Test func `is in a record of another format, which code of before leaves alone`() throws {
        let coder = StoredRecordCoder(place: "here", seal: nil)
        for (credential, format) in [(try bound(), 2), (Credential(refreshToken: "RT"), 1)] {
            let data = try coder.data(of: StoredRecord(version: 7, credential: credential))
            let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(json["format"] as? Int == format)
            #expect(try coder.record(from: data).credential == credential)
        }
        let removed = try coder.data(of: StoredRecord(version: 8, credential: nil))
        #expect(String(decoding: removed, as: UTF8.self).contains(#""format":1"#))
    }

    @Test func `that cannot be read does not look like none`() throws {
        let coder = StoredRecordCoder(place: "here", seal: nil)
        let text = #"{"format":2,"version":3,"credential":{"refreshToken":"RT","proofKey":7}}"#
        #expect(throws: CredentialStoreError.self) { try coder.record(from: Data(text.utf8)) }
    }

    @Test func `is sealed with the rest, and its format is not`() throws {
        let seal = CredentialSeal {
            Data($0.reversed())
        } open: {
            Data($0.reversed())
        }
        let coder = StoredRecordCoder(place: "here", seal: seal)
        let credential = try bound()
        let text = String(
            decoding: try coder.data(of: StoredRecord(version: 1, credential: credential)),
            as: UTF8.self
        )
        #expect(text.contains(#""format":2"#) && !text.contains("proofKey"))
        #expect(try coder.record(from: Data(text.utf8)).credential == credential)
    }

    @Test func `goes with each copy of a credential`() throws {
        let credential = try bound()
        let key = try #require(credential.proofKey)
        let response = TokenResponse(accessToken: AccessToken(value: "A1"))
        for copy in [
            credential.of("alice"), credential.moved(by: 5), credential.noting(nil), credential.released,
            credential.with(refreshToken: "RT1", boundTo: nil), Credential(response, renewing: credential),
            Credential(response, renewing: credential, for: "audience", at: .now),
            try JSONDecoder().decode(Credential.self, from: JSONEncoder().encode(credential)),
        ] {
            #expect(copy.proofKey == key)
        }
        #expect(response.withRefreshToken("RT").proofKey == nil)
        let other = try ProofKeys.ofThisMachine.make()
        #expect(response.bound(to: other).withRefreshToken("RT").proofKey == other.stored)
        #expect(Credential(response.bound(to: other), renewing: credential).proofKey == other.stored)
    }

    @Test(arguments: [nil, "audience"], [nil, "alice"])
    func `signs each renewal, whatever key and subject the loader has`(key: String?, subject: String?) async throws {
        try await withServer(Self.rotating) { server in
            let credential = try bound(subject: subject)
            let store = TroubledStore(credential, takeOverDelay: 15)
            let loader = OAuthLoader(endpoint: try endpoint(server), store: store, key: key, subject: subject)
            var token = old
            for _ in 0..<3 { token = try await loader.load(replacing: token) }
            #expect(Set(server.requests.compactMap { $0.fields["dpop"]?.prefix(while: { $0 != "." }) }).count == 1)
            #expect(server.requests.count == 3)
            #expect(kept(try await store.credential) == credential.proofKey)
        }
    }

    /// A reply with a refresh token and no usable access token.
    @Test func `stays with a refresh token that is saved without an access token`() async throws {
        try await withServer(replying: 200, #"{"refresh_token":"RT1","token_type":"DPoP"}"#) { server in
            let credential = try bound()
            let store = MemoryCredentialStore(credential)
            _ = try? await OAuthLoader(endpoint: try endpoint(server), store: store).load(replacing: old)
            #expect(try await store.refreshToken == "RT1")
            #expect(kept(try await store.credential) == credential.proofKey)
        }
    }

    /// The first reply of a session may be like that as well.
    @Test func `goes with a refresh token that is saved at the beginning`() async throws {
        try await withServer(replying: 200, #"{"refresh_token":"RT1","token_type":"DPoP"}"#) { server in
            let store = MemoryCredentialStore()
            let loader = OAuthLoader(endpoint: try endpoint(server), store: store, grant: .clientCredentials())
            _ = try? await loader.load(replacing: nil)
            #expect(try await store.refreshToken == "RT1")
            #expect(kept(try await store.credential) != nil)
        }
    }

    /// The closure of the app's own has the credential, and the endpoint finds the key by it.
    @Test func `signs the exchange of the app's own as well`() async throws {
        try await withServer(Self.rotating) { server in
            let store = MemoryCredentialStore(try bound())
            let endpoint = try endpoint(server)
            let exchange = TokenExchange(proofKeys: endpoint.proofKeys) { credential in
                try await endpoint.exchange(.refreshToken(credential.refreshToken ?? ""))
            }
            let loader = OAuthLoader(exchange, store: store)
            let token = try await loader.load(replacing: old)
            #expect(server.requests.first?.proof != nil)
            #expect(kept(try await store.credential) != nil)
            #expect(try await loader.proofs.fields("GET", server.url, with: token)["DPoP"] != nil)
        }
    }

    @Test func `signs the exchange of an adapted endpoint, and the revocation`() async throws {
        try await withServer(Self.rotating) { server in
            let store = MemoryCredentialStore(try bound())
            let exchange = TokenExchange(try endpoint(server)) { _, endpoint in
                endpoint.authentication = .none(clientID: "adapted")
            }
            let loader = OAuthLoader(exchange, store: store)
            _ = try await loader.load(replacing: old)
            await loader.signOut()
            #expect(server.requests.count == 2)
            #expect(server.requests.allSatisfy { $0.proof != nil })
        }
    }

    // MARK: Lost

    @Test func `that is lost is an error that asks for a login, and the record stays`() async throws {
        try await withServer(Self.rotating) { server in
            let credential = try bound()
            let store = TroubledStore(credential, takeOverDelay: 15)
            let keys = ProofKeys.ofThisMachine(read: { _ in false })
            let loader = OAuthLoader(endpoint: try endpoint(server, keys), store: store)
            for _ in 0..<2 {
                let error = await #expect(throws: OAuthError.proofKeyLost) { try await loader.load(replacing: old) }
                #expect(error?.requiresSignIn == true && error?.isTransient == false)
                #expect(error.map { "\($0)".contains("Let the user sign in") } == true)
            }
            #expect(server.requests.isEmpty)
            #expect(try await store.credential == credential)
            // A sign-out ends the session here and at the server, without a proof.
            await loader.signOut()
            #expect(try await store.credential == nil)
            #expect(server.requests.count == 1 && server.requests.first?.proof == nil)
        }
    }

    @Test func `that cannot be read at present is the app's own error, and nothing is lost`() async throws {
        struct Locked: Error {}
        try await withServer(Self.rotating) { server in
            let credential = try bound()
            let store = MemoryCredentialStore(credential)
            let keys = ProofKeys.ofThisMachine(read: { _ in throw Locked() })
            let loader = OAuthLoader(endpoint: try endpoint(server, keys), store: store)
            await #expect(throws: Locked.self) { try await loader.load(replacing: old) }
            #expect(server.requests.isEmpty)
            #expect(try await store.credential == credential)
        }
    }

    /// A setting that was turned off, or another process that has none: a server may spend what comes without a proof.
    @Test func `is needed to send the refresh token, whatever the endpoint's settings are`() async throws {
        try await withServer(Self.rotating) { server in
            let credential = try bound()
            let store = MemoryCredentialStore(credential)
            let loader = OAuthLoader(endpoint: try endpoint(server, nil), store: store)
            let error = await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) }
            #expect(error?.isConfigurationMistake == true && error?.requiresSignIn == false)
            #expect(error.map { "\($0)".contains("proofKeys") } == true)
            #expect(server.requests.isEmpty)
            #expect(try await store.credential == credential)
        }
    }

    // MARK: A client that acts for itself

    /// It has no session that needs the key: a deploy may turn the keys off.
    @Test(arguments: [nil, "audience"], [#""access_token":"A1""#, #""refresh_token":"RT1""#])
    func `is not that of what a grant without a proof brings, and nothing of the key's stays`(
        key: String?,
        member: String
    ) async throws {
        try await withServer(replying: 200, #"{"token_type":"Bearer",\#(member)}"#) { server in
            let made = try ProofKeys.ofThisMachine.make()
            let own = Credential(TokenResponse(accessToken: old).bound(to: made))
            let other = TokenResponse(accessToken: AccessToken(value: "other")).bound(to: made)
            let store = MemoryCredentialStore(Credential(other, renewing: own, for: "other", at: .now))
            let loader = OAuthLoader(
                endpoint: try endpoint(server, nil),
                store: store,
                grant: .clientCredentials(),
                key: key
            )
            let token = try? await loader.load(replacing: old)
            let credential = try #require(try await store.credential)
            #expect(server.requests.first.map { $0.proof == nil } == true)
            #expect(kept(credential) == nil)
            #expect(credential.accessTokens == [token?.value].compactMap(\.self))
            if let token {
                let fields = try await loader.proofs.fields("GET", server.url, with: token)
                #expect(fields == ["Authorization": "Bearer A1"])
            } else {
                #expect(credential.refreshToken == "RT1")
            }
        }
    }

    // MARK: The end

    private func removed(
        script: @escaping ScriptedServer.Script = KeyLifeTests.rotating,
        _ end: (OAuthLoader, MemoryCredentialStore, _ removed: () -> Set<Data>) async throws -> Void
    ) async throws -> (removed: Set<Data>, key: Data?) {
        let removed = Locked<Set<Data>>([])
        let keys = ProofKeys.ofThisMachine(removed: { key in removed.withLock { _ = $0.insert(key) } })
        return try await withServer(script) { server in
            let credential = try bound()
            let store = MemoryCredentialStore(credential)
            let loader = OAuthLoader(endpoint: try endpoint(server, keys), store: store)
            try await end(loader, store) { removed.withLock { $0 } }
            return (removed.withLock { $0 }, credential.proofKey)
        }
    }

    @Test func `is given up at a sign-out`() async throws {
        let (removed, key) = try await removed { loader, _, _ in
            let token = try await loader.load(replacing: old)
            #expect(try await loader.proofs.prover(for: token) != nil)
            await loader.signOut()
            // It is not kept in memory either, and the token does not go without it.
            let url = try #require(URL(string: "https://api.example/notes"))
            await #expect(throws: AccessTokenError.signedOut) {
                try await loader.proofs.fields("GET", url, with: token)
            }
        }
        #expect(removed == [try #require(key)])
    }

    /// Some servers want a proof there as well, and a key that is stored by its name cannot be read again.
    @Test func `signs the revocation before it is given up`() async throws {
        let removed = Locked<Set<Data>>([])
        let keys = ProofKeys.ofThisMachine(
            read: { key in removed.withLock { !$0.contains(key) } },
            removed: { key in removed.withLock { _ = $0.insert(key) } }
        )
        try await withServer(Self.rotating) { server in
            let credential = try bound()
            let loader = OAuthLoader(endpoint: try endpoint(server, keys), store: MemoryCredentialStore(credential))
            try await loader.endSession()
            #expect(server.requests.map { $0.proof != nil } == [true])
            #expect(removed.withLock { $0 } == [try #require(credential.proofKey)])
        }
    }

    /// Each client credentials grant has a key of its own, and the store may have refused what the last one brought.
    @Test func `is given up with that of a successor that was never saved`() async throws {
        let removed = Locked<Set<Data>>([])
        let keys = ProofKeys.ofThisMachine(removed: { key in removed.withLock { _ = $0.insert(key) } })
        try await withServer(Self.rotating) { server in
            let (stored, successor) = (try bound(), try bound())
            let loader = OAuthLoader(endpoint: try endpoint(server, keys), store: MemoryCredentialStore(stored))
            loader.memory.withLock { $0.unsaved = .init(credential: successor, base: stored) }
            try await loader.endSession()
            #expect(removed.withLock { $0 } == Set([stored, successor].compactMap(\.proofKey)))
        }
    }

    /// The process removes the record as soon as the store allows.
    @Test func `is given up at a sign-out that the store cannot do`() async throws {
        let removed = Locked<Set<Data>>([])
        let keys = ProofKeys.ofThisMachine(removed: { key in removed.withLock { _ = $0.insert(key) } })
        try await withServer(Self.rotating) { server in
            let credential = try bound()
            let store = TroubledStore(credential)
            // Not three times: what is owed is tried again a second later.
            store.fail(1_000)
            await OAuthLoader(endpoint: try endpoint(server, keys), store: store).signOut()
            #expect(try await store.credential != nil)
            #expect(removed.withLock { $0 } == [try #require(credential.proofKey)])
        }
    }

    @Test func `is given up when the server ends the session`() async throws {
        let script: ScriptedServer.Script = { connection, _ in
            connection.reply(400, #"{"error":"invalid_grant"}"#)
        }
        let (removed, key) = try await removed(script: script) { loader, store, _ in
            _ = try? await loader.load(replacing: old)
            let left = try await store.load()
            #expect(left == nil)
        }
        #expect(removed == [try #require(key)])
    }

    @Test func `is given up for that of a new login, and stays over a renewal`() async throws {
        let next = try bound()
        let (removed, key) = try await removed { loader, store, removed in
            _ = try await loader.load(replacing: old)
            #expect(removed().isEmpty)
            try await loader.signIn(next)
            #expect(kept(try await store.credential) == next.proofKey)
        }
        #expect(removed == [try #require(key)])
    }

    enum Failure: Error, CaseIterable {
        case refused, replyLost, unreachable, noAssertion
    }

    @Test(arguments: Failure.allCases)
    func `is given up when it was made for an exchange that brought nothing`(failure: Failure) async throws {
        let removed = Locked(0)
        let made = Locked(0)
        let keys = ProofKeys.ofThisMachine(
            made: { made.withLock { $0 += 1 } },
            removed: { _ in
                removed.withLock { $0 += 1 }
            }
        )
        try await withServer { connection, _ in
            guard failure == .refused else { return }
            connection.reply(400, #"{"error":"invalid_scope"}"#)
        } _: { server in
            var endpoint = try endpoint(server, keys)
            if failure == .unreachable { endpoint.url = try #require(URL(string: "http://127.0.0.1:1/token")) }
            if failure == .noAssertion { endpoint.authentication = .assertion(clientID: "app") { throw failure } }
            await #expect(throws: (any Error).self) { try await endpoint.exchange(.clientCredentials()) }
        }
        #expect(made.withLock { $0 } == 1 && removed.withLock { $0 } == 1)
    }

    // MARK: Made

    @Test func `that the app cannot make ends a login before anything is shown`() throws {
        struct NoKey: Error, CustomStringConvertible { let description = "s3cret" }
        let keys = ProofKeys.ofThisMachine(made: { throw NoKey() })
        let server = AuthorizationServer(authorizationURL: URL(string: "https://as.example/"), tokenURL: nil)
        let error = #expect(throws: LoginError.self) {
            try AuthorizationCodeLogin(at: server, clientID: "app", redirectURI: "app:/x", proofKeys: keys)
        }
        #expect(error.map { "\($0)".contains("NoKey") && !everythingShown(by: $0).contains("s3cret") } == true)
    }

    @Test func `is named in the authorization request, and by nobody else`() throws {
        let url = URL(string: "https://as.example/authorize")
        let server = AuthorizationServer(authorizationURL: url, tokenURL: nil)
        let login = try AuthorizationCodeLogin(
            at: server,
            clientID: "app",
            redirectURI: "app:/x",
            proofKeys: .ofThisMachine
        )
        let items = URLComponents(url: login.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        #expect(items.first { $0.name == "dpop_jkt" }?.value?.count == 43)
        #expect(throws: LoginError.self) {
            try AuthorizationCodeLogin(
                at: server,
                clientID: "app",
                redirectURI: "app:/x",
                parameters: ["dpop_jkt": "x"]
            )
        }
        let plain = try AuthorizationCodeLogin(at: server, clientID: "app", redirectURI: "app:/x")
        #expect(!plain.url.absoluteString.contains("dpop_jkt"))
    }
}
