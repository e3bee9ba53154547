import AccessTokenContract
import AccessTokenCore
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("The subject of a credential", .takesTurns, .endsHangs)
struct SubjectTests {
    private static let user1 = Credential(refreshToken: "RT-1", subject: "user 1")
    private static let user2 = Credential(
        accessToken: AccessToken(value: "A-2"),
        refreshToken: "RT-2",
        subject: "user 2"
    )

    /// An ID token with a signature that nobody has made.
    private static func idToken(_ claims: String) -> String {
        let payload = Data(claims.utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return "eyJhbGciOiJub25lIn0.\(payload).c2ln"
    }

    private func reply(_ name: String, idToken: String?) -> String {
        let member = idToken.map { #","id_token":"\#($0)""# } ?? ""
        return #"{"access_token":"\#(name)","token_type":"Bearer","expires_in":3600,"refresh_token":"RT"\#(member)}"#
    }

    // MARK: Where it comes from

    @Test(arguments: [
        (#"{"sub":"248289761001"}"#, "248289761001"), (#"{"iss":"i","sub":"ü?>~ \"x\""}"#, "ü?>~ \"x\""),
        (#"{"sub":7}"#, nil), (#"{"sub":""}"#, nil), (#"{}"#, nil), ("no JSON", nil),
    ])
    func `is that of the ID token`(claims: String, subject: String?) {
        let members = ["id_token": Self.idToken(claims)]
        #expect(Credential(refreshToken: "RT", otherMembers: members).subject == subject)
        let response = TokenResponse(accessToken: AccessToken(value: "A"), otherMembers: members)
        #expect(Credential(response).subject == subject)
    }

    @Test(arguments: ["", "a.b", "a.b.c.d.e", "a..c", "a.%%.c", "..", "a.ÿ.c"])
    func `is none where the ID token is none that can be read`(_ token: String) {
        #expect(Credential(refreshToken: "RT", otherMembers: ["id_token": token]).subject == nil)
    }

    @Test func `is the app's own word, also after a response, until the server's word changes`() {
        func response(_ subject: String) -> TokenResponse {
            let members = ["id_token": Self.idToken(#"{"sub":"\#(subject)"}"#)]
            return TokenResponse(accessToken: AccessToken(value: "A"), otherMembers: members)
        }
        let first = Credential(response("auth0|1"), renewing: Credential(refreshToken: "RT", subject: "user 1"))
        #expect(first.subject == "user 1")
        #expect(Credential(response("auth0|1"), renewing: first).subject == "user 1")
        #expect(Credential(TokenResponse(accessToken: AccessToken(value: "A")), renewing: first).subject == "user 1")
        #expect(Credential(response("auth0|2"), renewing: first).subject == "auth0|2")
    }

    @Test func `outlives a store, and records without one are read`() async throws {
        let folder = TemporaryFolder()
        let store = FileCredentialStore(folder: folder.session)
        try await store.update { _ in .replace(Self.user1) }
        #expect(try await store.credential?.subject == "user 1")
        let before = Data(#"{"credential":{"refreshToken":"RT0"},"version":3}"#.utf8)
        #expect(try JSONDecoder().decode(CredentialRecord.self, from: before).credential.subject == nil)
        let withIDToken = #"{"refreshToken":"RT0","otherMembers":{"id_token":"\#(Self.idToken(#"{"sub":"s"}"#))"}}"#
        #expect(try JSONDecoder().decode(Credential.self, from: Data(withIDToken.utf8)).subject == "s")
    }

    // MARK: What a loader does with it

    @Test func `of another user ends the session of a loader, which leaves the other one's alone`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let store = MemoryCredentialStore(Self.user1)
            let first = OAuthLoader(endpoint: try server.endpoint(), store: store, subject: "user 1")
            let second = OAuthLoader(endpoint: try server.endpoint(), store: store, subject: "user 2")
            #expect(try await first.load(replacing: nil).value == "A1")
            try await second.signIn(Self.user2)
            let record = try await store.load()
            await #expect(throws: AccessTokenError.signedOut) { try await first.load(replacing: nil) }
            await #expect(throws: AccessTokenError.signedOut) {
                try await first.load(replacing: AccessToken(value: "A-2"))
            }
            await first.signOut()
            #expect(try await store.load() == record)
            #expect(try await second.load(replacing: nil).value == "A-2")
            #expect(server.requests.count == 1, "nothing of user 2 was exchanged or revoked")
        }
    }

    @Test func `of another user is not adopted while the store lets nobody in`() async throws {
        let store = TroubledStore(Self.user2)
        store.becomeBusy()
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"))
        let loader = OAuthLoader(endpoint: endpoint, store: store, subject: "user 1")
        await #expect(throws: CredentialStoreError.busy) { try await loader.load(replacing: nil) }
        await loader.signOut()
        #expect(try await store.credential == Self.user2)
    }

    @Test func `that a reply changes is saved, and its token is not handed out`() async throws {
        let replies = ["auth0|1", "auth0|2"].map { reply("A-\($0)", idToken: Self.idToken(#"{"sub":"\#($0)"}"#)) }
        try await withServer { connection, _ in
            connection.reply(200, replies[connection.number - 1])
        } _: { server in
            let store = MemoryCredentialStore(Credential(refreshToken: "RT0"))
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store, subject: "auth0|1")
            let token = try await loader.load(replacing: nil)
            #expect(token.value == "A-auth0|1")
            await #expect(throws: AccessTokenError.signedOut) { try await loader.load(replacing: token) }
            #expect(try await store.credential?.subject == "auth0|2")
        }
    }

    // MARK: A sign-out of another user

    /// Loaders of two users at one store, where user 1 is signed in; by this clock, nothing is paid without a load.
    private func withTwoUsers(
        _ script: @escaping ScriptedServer.Script,
        _ body: (ScriptedServer, TroubledStore, ManualClock, (first: OAuthLoader, second: OAuthLoader)) async throws ->
            Void
    ) async throws {
        try await withServer(script) { server in
            let (store, clock) = (TroubledStore(Self.user1), ManualClock())
            let endpoint = try server.endpoint(clock: clock)
            let loaders = ["user 1", "user 2"].map { OAuthLoader(endpoint: endpoint, store: store, subject: $0) }
            try await body(server, store, clock, (loaders[0], loaders[1]))
        }
    }

    /// How many calls of the sign-out the store fails: none, the first removal, all of them and the look.
    private static let blindCalls = [0, 1, 4]

    @Test(arguments: blindCalls)
    func `does not undo the sign-out that a user's store has not taken yet`(blindCalls: Int) async throws {
        try await withTwoUsers(ScriptedServer.rotating) { (_, store, _, loaders) async throws in
            store.fail(3)
            await #expect(throws: UnfinishedSignOut.self) { try await loaders.first.endSession() }
            store.goBlind(for: blindCalls)
            await loaders.second.signOut()
            await #expect(throws: AccessTokenError.signedOut) { try await loaders.first.load(replacing: nil) }
            #expect(try await store.credential == nil)
        }
    }

    @Test(arguments: blindCalls)
    func `does not lose a user's token that the store has not taken yet`(blindCalls: Int) async throws {
        try await withTwoUsers(ScriptedServer.rotating) { (server, store, _, loaders) async throws in
            store.fail(3)
            await #expect(throws: TroubledStore.Trouble()) { try await loaders.first.load(replacing: nil) }
            store.goBlind(for: blindCalls)
            await loaders.second.signOut()
            #expect(try await loaders.first.load(replacing: nil).value == "A1")
            #expect(server.requests.count == 1, "nothing was revoked, or sent again")
        }
    }

    @Test func `does not give up a user's renewal that is slow`() async throws {
        let gate = Gate()
        try await withTwoUsers { connection, _ in
            gate.pass()
            connection.reply(200, tokens("A1", "RT1"))
        } _: { (server, store, clock, loaders) async throws in
            let load = Task { try await loaders.first.load(replacing: nil) }
            await yieldUntil { server.requests.count == 1 }
            let timers = clock.pendingTimers
            let signOut = Task { try await loaders.second.endSession() }
            await yieldUntil { clock.pendingTimers == timers + 1 }
            clock.advance(by: TokenEndpoint.usualDeadline)
            await #expect(throws: OAuthError.timedOut) { try await load.valueInTime }
            gate.open()
            try await signOut.value
            #expect(try await store.refreshToken == "RT1")
            #expect(server.requests.count == 1, "nothing was revoked")
        }
    }

    @Test func `of another user, a refresh token that may be spent is not sent again`() async throws {
        try await withTwoUsers(ScriptedServer.rotating) { (_, _, _, loaders) async throws in
            let held = HeldToken(refreshToken: "RT-1", holds: [])
            loaders.first.memory.withLock { $0.held = held }
            try await loaders.second.sendAgain()
            #expect(loaders.first.memory.withLock { $0.held } == held)
        }
    }

    @Test func `is the loader's for a credential that has none`() async throws {
        let store = MemoryCredentialStore()
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"))
        let loader = OAuthLoader(endpoint: endpoint, store: store, subject: "user 1")
        try await loader.signIn(Credential(accessToken: AccessToken(value: "A"), refreshToken: "RT"))
        #expect(try await store.credential?.subject == "user 1")
        #expect(try await loader.load(replacing: nil).value == "A")
        try await loader.signIn(Self.user2)
        #expect(try await store.credential?.subject == "user 2")
    }
}
