import AccessTokenAdapters
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Tokens that no request can carry", .takesTurns, .endsHangs)
struct EntranceTests {
    private static let unsendable = ["", "A B", "A\n", "Ä", "A\u{7F}"]

    /// How a credential comes into a store.
    enum Entrance: CaseIterable {
        case stored, decoded, signedIn, adopted
    }

    private func store(_ token: AccessToken, by entrance: Entrance, _ endpoint: TokenEndpoint) async throws
        -> MemoryCredentialStore
    {
        let credential = Credential(accessToken: token, refreshToken: "RT0")
        switch entrance {
        case .stored: return MemoryCredentialStore(credential)
        case .decoded:
            let json = #"{"accessToken":\#(try text(token)),"refreshToken":"RT0"}"#
            return MemoryCredentialStore(try JSONDecoder().decode(Credential.self, from: Data(json.utf8)))
        case .signedIn:
            let store = MemoryCredentialStore()
            try await OAuthLoader(endpoint: endpoint, store: store).signIn(credential)
            return store
        case .adopted:
            let store = MemoryCredentialStore(Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0"))
            try await store.update { _ in .replace(credential) }
            return store
        }
    }

    private func text(_ token: AccessToken) throws -> String {
        String(decoding: try JSONEncoder().encode(token), as: UTF8.self)
    }

    @Test(arguments: Entrance.allCases, unsendable)
    func `a stored access token of that kind is none, and another one is loaded`(entrance: Entrance, value: String)
        async throws
    {
        try await withServer(ScriptedServer.rotating) { server in
            let endpoint = try server.endpoint()
            for kind in SessionKind.allCases {
                let store = try await store(AccessToken(value: value), by: entrance, endpoint)
                let loader = OAuthLoader(endpoint: endpoint, store: store)
                let before = server.requests.count
                let tokens: any AsyncAccessTokenProviding =
                    switch kind {
                    case .async: AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline)
                    case .callback:
                        AccessTokenService(loader: CallbackLoaderAdapter(of: loader), policy: .withoutLoadDeadline)
                    }
                #expect(try await tokens.token().value == "A\(before + 1)")
                #expect(try await tokens.token().value == "A\(before + 1)")
                #expect(server.requests.count == before + 1)
            }
        }
    }

    @Test(arguments: unsendable)
    func `nor is one of a key, and the credential's own stays`(value: String) throws {
        let good = KeyedAccessToken(accessToken: AccessToken(value: "K"), scope: nil, obtained: nil)
        let bad = KeyedAccessToken(accessToken: AccessToken(value: value), scope: nil, obtained: nil)
        let stored = Credential(accessToken: AccessToken(value: "A"), refreshToken: "RT").keying(["a": good, "b": bad])
        let read = try JSONDecoder().decode(Credential.self, from: JSONEncoder().encode(stored))
        #expect(read.accessToken(for: nil)?.value == "A")
        #expect(read.accessToken(for: "a")?.value == "K")
        #expect(read.accessToken(for: "b") == nil)
    }

    @Test(arguments: ["", " ", "\n", "R\u{0}T", "R\nT", "RÜ"])
    func `a refresh token of that kind is none: a sign-in is asked for, and nothing is sent`(value: String)
        async throws
    {
        try await withServer(replying: 500) { server in
            let loader = OAuthLoader(
                endpoint: try server.endpoint(),
                store: MemoryCredentialStore(Credential(refreshToken: value))
            )
            for _ in 1...2 {
                await #expect(throws: AccessTokenError.signedOut) { try await loader.load(replacing: nil) }
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: ["RT0\n", "\tRT0\r\n", " RT0 "])
    func `white space around a refresh token is not sent`(value: String) async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let store = MemoryCredentialStore(Credential(refreshToken: value))
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            #expect(try await loader.load(replacing: nil).value == "A1")
            #expect(server.requests.map(\.body) == ["grant_type=refresh_token&refresh_token=RT0&client_id=app"])
        }
    }

    // MARK: Nothing beside a token

    @Test(
        arguments: [
            #""refresh_token":null,"refreshToken":"NEW""#, #""refreshToken":"NEW","refresh_token":null"#,
            #""refresh_token":"","Refresh-Token":null,"refreshToken":"NEW""#,
            #""refresh_token":"NEW","refresh_token":null"#, #""refresh_token":"NEW","refresh_token":"""#,
            #""refresh_token":null,"refresh_token":"NEW""#, #""refresh_token":"OLDER","refresh_token":"NEW""#,
            #""refresh_token":[],"refreshToken":"NEW""#, #""refresh_token":false,"refreshToken":"NEW""#,
        ]
    )
    func `of several members that may be the refresh token, the one that has it counts`(members: String) throws {
        let body = Data("{\"access_token\":\"A\",\"token_type\":\"Bearer\",\(members)}".utf8)
        let reply = TokenReplyReader(secrets: []).read(TokenEndpointReply(status: 200, body: body))
        #expect(try reply.result.get().refreshToken == "NEW")
        #expect(try reply.result.get().otherMembers.isEmpty)
    }
}
