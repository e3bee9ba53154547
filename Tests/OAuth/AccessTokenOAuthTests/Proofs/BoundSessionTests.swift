import AccessTokenAsync
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

/// What a server may ask of proofs; of each the session notices nothing.
private let demands: [ProofDemand] = [
    ProofDemand(), ProofDemand(nonceUses: 0), ProofDemand(nonceUses: 0, namesNonceAlways: false),
    ProofDemand(nonceUses: 1), ProofDemand(nonceUses: 1, namesNonceAlways: false),
    ProofDemand(nonceUses: 2, clockOffset: -60), ProofDemand(window: 20, clockOffset: 90),
]

@Suite("A session that is bound to a key", .takesTurns, .endsHangs)
struct BoundSessionTests {
    @Test(arguments: demands.indices)
    func `logs in, renews, asks for things and signs out at a strict server`(index: Int) async throws {
        try await withBoundServer(demands[index]) { server in
            let endpoint = server.boundEndpoint()
            let store = MemoryCredentialStore()
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            let service = AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline)
            let login = try await server.logIn(endpoint)
            try await loader.signIn(login, to: service)
            let key = try #require(login.proofKey)
            let session = AsyncBearerSession(tokens: service, origins: [server.resource], proofs: loader.proofs)
            for _ in 0..<3 {
                for _ in 0..<3 {
                    let (_, response) = try await session.data(for: URLRequest(url: server.resource))
                    #expect(response.status == 200)
                }
                // The server rejects the token: one renewal, and the request goes again.
                server.expireAccessTokens()
            }
            #expect(try await store.credential?.proofKey == key)
            let refreshToken = try #require(try await store.refreshToken)
            let family = try #require(server.name(of: refreshToken)?.family)
            #expect(server.tally.reuses == 0 && server.tally.revokedFamilies == 0)
            await service.signOut()
            #expect(server.isRevoked(family: family))
            #expect(try await store.credential == nil)
        }
    }

    @Test(arguments: [false, true])
    func `has the key of its login, whether the login has named it or not`(namesKey: Bool) async throws {
        try await withBoundServer { server in
            let login = try await server.logIn(server.boundEndpoint(), namesKey: namesKey)
            #expect(login.proofKey != nil)
            #expect(server.tally.signIns == 1)
        }
    }

    /// The key comes from the endpoint, and its name goes with what is pushed (RFC 9449, section 10.1).
    @Test func `logs in by a request that was pushed, at a server that takes no other`() async throws {
        let demand = ProofDemand(nonceUses: 1)
        let server = try RotatingAuthorizationServer(requiresPushedRequests: true, proofs: demand)
        defer { server.stop() }
        let endpoint = server.boundEndpoint()
        let login = try await AuthorizationCodeLogin(
            at: try await AuthorizationServer.discover(server.issuer),
            with: endpoint,
            redirectURI: "http://127.0.0.1:1/callback"
        )
        #expect(!login.url.absoluteString.contains("dpop_jkt"))
        let grant = try login.grant(from: try #require(server.redirect(for: login.url, user: "alice")))
        let credential = Credential(try await endpoint.exchange(grant))
        #expect(credential.proofKey == grant.key?.stored && credential.proofKey != nil)
        // What is pushed has a proof as well, and brings the nonce.
        #expect(server.tally.refusedProofs == 1 && server.tally.tokenRequests == 1)
    }

    @Test func `is not begun with a code that was asked for with another key`() async throws {
        try await withBoundServer { server in
            let endpoint = server.boundEndpoint()
            let metadata = AuthorizationServer(authorizationURL: server.authorizationEndpoint, tokenURL: nil)
            let login = try AuthorizationCodeLogin(
                at: metadata,
                clientID: RotatingAuthorizationServer.clientID,
                redirectURI: "http://127.0.0.1:1/callback",
                proofKeys: endpoint.proofKeys
            )
            let grant = try login.grant(from: try #require(server.redirect(for: login.url, user: "alice")))
            let thief = try ProofKeys.ofThisMachine.make()
            await #expect(throws: OAuthError.refused("invalid_grant")) {
                try await endpoint.exchange(grant.bound(to: thief))
            }
        }
    }

    @Test func `is of no use to whoever stole its tokens`() async throws {
        try await withBoundServer { server in
            let endpoint = server.boundEndpoint()
            let credential = try await server.logIn(endpoint)
            let thief = try ProofKeys.ofThisMachine.make()
            let refreshToken = try #require(credential.refreshToken)
            await #expect(throws: OAuthError.refused("invalid_grant")) {
                try await endpoint.exchange(.refreshToken(refreshToken).bound(to: thief))
            }
            for (credential, status) in [(credential.bound(to: thief.stored), 401), (credential, 200)] {
                let loader = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore(credential))
                let session = AsyncBearerSession(
                    tokens: AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline),
                    origins: [server.resource],
                    proofs: loader.proofs
                )
                let (_, response) = try await session.data(for: URLRequest(url: server.resource))
                #expect(response.status == status)
            }
        }
    }

    @Test func `of a device has one key for all its questions`() async throws {
        let made = Locked(0)
        let keys = ProofKeys.ofThisMachine(made: { made.withLock { $0 += 1 } })
        try await withBoundServer { server in
            let metadata = AuthorizationServer(
                tokenURL: server.tokenEndpoint,
                deviceAuthorizationURL: server.deviceAuthorizationEndpoint
            )
            // This clock is weeks ahead of the server's.
            let clock = PauseClock()
            let login = try await DeviceLogin(at: metadata, with: server.boundEndpoint(keys, clock: clock))
            let response = Task { try await login.response() }
            for _ in 0..<3 { _ = await clock.endPause() }
            await yieldUntil { clock.isPausing }
            #expect(server.decide(userCode: login.userCode, user: "bob"))
            _ = await clock.endPause()
            #expect(Credential(try await response.value).proofKey != nil)
            #expect(made.withLock { $0 } == 1)
            // The nonce, and the time: the later questions have both.
            #expect(server.tally.refusedProofs == 2)
        }
    }

    @Test func `of a client that acts for itself keeps its key from load to load`() async throws {
        let client = AuthorizationServerClient.confidential("machine", secret: "s")
        let server = try RotatingAuthorizationServer(clients: [client], proofs: ProofDemand(nonceUses: 0))
        defer { server.stop() }
        var endpoint = server.boundEndpoint()
        endpoint.authentication = .basic(clientID: "machine", secret: "s")
        let store = MemoryCredentialStore()
        let loader = OAuthLoader(endpoint: endpoint, store: store, grant: .clientCredentials())
        let first = try await loader.load(replacing: nil)
        let key = try #require(try await store.credential?.proofKey)
        _ = try await loader.load(replacing: first)
        #expect(try await store.credential?.proofKey == key)
        // One challenge: the nonce is kept as well.
        #expect(server.tally.refusedProofs == 1)
    }

    @Test func `shares one load among many callers, also where each proof uses up a nonce`() async throws {
        try await withBoundServer(ProofDemand(nonceUses: 1)) { server in
            let endpoint = server.boundEndpoint()
            let loader = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore())
            let service = AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline)
            try await loader.signIn(try await server.logIn(endpoint), to: service)
            let before = server.tally.tokenRequests - server.tally.refusedProofs
            for _ in 0..<5 {
                let old = try await service.token()
                await service.invalidate(old)
                let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
                    for _ in 0..<100 { group.addTask { try await service.token() } }
                    return try await group.reduce(into: Set()) { $0.insert($1) }
                }
                #expect(tokens.count == 1)
            }
            #expect(server.tally.tokenRequests - server.tally.refusedProofs - before == 5)
            #expect(server.tally.reuses == 0)
        }
    }

    /// A server that began to ask for proofs: the session goes on as it was, and the next login is bound.
    @Test func `that began without a key sends no proof`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            var endpoint = try server.endpoint()
            endpoint.proofKeys = .ofThisMachine
            let store = MemoryCredentialStore(Credential(refreshToken: "RT0"))
            _ = try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: nil)
            #expect(server.requests.count == 1)
            #expect(server.requests.allSatisfy { $0.fields["dpop"] == nil })
            #expect(try await store.credential?.proofKey == nil)
        }
    }

    /// RFC 9449, section 5: such a token is good for whoever has it.
    @Test func `is none with a token of type Bearer, whose refresh token is saved`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            var endpoint = try server.endpoint()
            endpoint.proofKeys = .ofThisMachine
            let error = await #expect(throws: OAuthError.self) {
                try await endpoint.exchange(.clientCredentials())
            }
            #expect(error.map { "\($0)".contains("not bound to the key") } == true)
            #expect(error.map { "\($0)".contains("have DPoP turned on") } == true)
            let key = try ProofKeys.ofThisMachine.make()
            let bound = Credential(
                TokenResponse(accessToken: AccessToken(value: "A0"), refreshToken: "RT0").bound(to: key)
            )
            let store = MemoryCredentialStore(bound)
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            for _ in 0..<2 {
                let error = await #expect(throws: OAuthError.self) {
                    try await loader.load(replacing: AccessToken(value: "A0"))
                }
                #expect(error?.hasUnusableToken == true)
            }
            #expect(try await store.refreshToken == "RT2")
            #expect(try await store.credential?.proofKey == key.stored)
            // The second load has not asked: for five minutes, the server would say the same.
            #expect(server.requests.count == 2)
        }
    }

    @Test(arguments: ["DPoP", "dpop", "DPOP", nil])
    func `takes the type of its tokens in any case, and one that is not named`(type: String?) async throws {
        let member = type.map { #","token_type":"\#($0)""# } ?? ""
        try await withServer(replying: 200, #"{"access_token":"A1"\#(member)}"#) { server in
            var endpoint = try server.endpoint()
            endpoint.proofKeys = .ofThisMachine
            #expect(try await endpoint.exchange(.clientCredentials()).proofKey != nil)
        }
    }
}
