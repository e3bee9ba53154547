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
