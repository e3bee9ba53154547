import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("A successful reply that cannot be read, or not be used", .takesTurns, .endsHangs)
struct UnreadableReplyTests {
    private static let start = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")
    private let old = AccessToken(value: "A0")

    private static func usual(_ access: String, _ refresh: String) -> String {
        #"{"access_token":"\#(access)","token_type":"Bearer","expires_in":60,"refresh_token":"\#(refresh)"}"#
    }

    private static let unreadable = [
        ReplyShape("under body") { #"{"status":0,"body":\#(usual($0, $1))}"# },
        ReplyShape("under data, with a message") { #"{"code":"ok","data":\#(usual($0, $1)),"message":null}"# },
        ReplyShape("other names") { #"{"token":"\#($0)","renewal":"\#($1)"}"# },
        ReplyShape("a warning in front of the JSON") { "<br />\n<b>Warning</b>: x\n\(usual($0, $1))" },
        ReplyShape("XML", type: "application/xml") { "<t><access_token>\($0)</access_token><r>\($1)</r></t>" },
        ReplyShape("a JSON Web Token", type: "application/jwt") { _, _ in "eyJhbGciOiJub25lIn0.e30." },
        ReplyShape("JSON in a string") { "\"\(usual($0, $1).replacing("\"", with: "\\\""))\"" },
        ReplyShape("an array") { "[\(usual($0, $1))]" },
        ReplyShape("two objects") { "\(usual($0, $1)){}" },
        ReplyShape("JSON that stops") { String(usual($0, $1).dropLast(3)) },
        ReplyShape("202 with a promise", status: 202) { _, _ in #"{"status":"pending"}"# },
        ReplyShape("an error that is an object") { #"{"error":{"code":0},"result":\#(usual($0, $1))}"# },
        ReplyShape("a refresh token in an object") { #"{"access_token":"\#($0)","refresh_token":{"value":"\#($1)"}}"# },
        ReplyShape("a refresh token with a line break") { #"{"access_token":"\#($0)","refresh_token":"\#($1)\n"}"# },
        ReplyShape("longer than a megabyte") {
            #"{"x":"\#(String(repeating: "x", count: 1 << 20))","y":\#(usual($0, $1))}"#
        },
    ]

    @Test(arguments: unreadable)
    func `is told, and the same refresh token is not sent again: not by this process, and not by another`(
        shape: ReplyShape
    ) async throws {
        for takeOverDelay in [0, 2, TimeInterval.infinity] {
            try await withStrictServer(replying: shape) { server, session in
                let store = SharedStore(Self.start, takeOverDelay: takeOverDelay)
                let endpoint = try server.endpoint()
                let loader = ThrottlingLoader(RetryingLoader(OAuthLoader(endpoint: endpoint, store: store)))
                for process in [loader, loader, ThrottlingLoader(OAuthLoader(endpoint: endpoint, store: store))] {
                    let error = await #expect(throws: OAuthError.self) { try await process.load(replacing: old) }
                    #expect(error?.sessionMayBeSpent == true && error?.isTransient == false)
                    #expect(error?.requiresSignIn == false && "\(error as Any)".contains("may be spent"))
                }
                #expect(session.sent == ["RT0"] && !session.isRevoked)
                #expect(try await store.refreshToken == "RT0")
                // What is left of the session is the present access token.
                #expect(try await store.credential?.accessToken?.value == "A0")
            }
        }
    }

    @Test func `is known to all loaders of a store that keeps no notes`() async throws {
        try await withStrictServer(replying: Self.unreadable[0]) { server, session in
            let store = NotelessStore(Self.start)
            let loaders = try (0..<2).map { _ in OAuthLoader(endpoint: try server.endpoint(), store: store) }
            for loader in loaders + loaders {
                await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) }
            }
            #expect(session.sent == ["RT0"])
        }
    }

    @Test func `the app decides: the token is sent again, and the server says that the session is over`() async throws {
        try await withStrictServer(replying: Self.unreadable[0]) { server, session in
            let store = SharedStore(Self.start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            for _ in 0..<2 { await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) } }
            try await loader.sendAgain()
            await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: old) }
            await #expect(throws: AccessTokenError.signedOut) { try await loader.load(replacing: old) }
            #expect(session.sent == ["RT0", "RT0"])
            // Where nobody is signed in, or nothing is held, there is nothing to decide.
            try await loader.sendAgain()
            #expect(try await store.credential == nil)
            try await loader.signIn(Self.start)
            let version = try await store.version
            try await loader.sendAgain()
            #expect(try await store.version == version)
        }
    }

    private static let pages = [
        ReplyShape("HTML", type: "text/html") { _, _ in "<!doctype html><title>Welcome</title>" },
        ReplyShape("empty") { _, _ in "" }, ReplyShape("null") { _, _ in "null" },
        ReplyShape("an empty object") { _, _ in "{}" }, ReplyShape("204", status: 204) { _, _ in "" },
        ReplyShape("a list of nothing") { _, _ in "[]" }, ReplyShape("text", type: "text/plain") { _, _ in "Welcome" },
    ]

    @Test(arguments: pages)
    func `a page in the server's place holds no session: as after a lost reply, the token is sent once more`(
        page: ReplyShape
    ) async throws {
        for takeOverDelay in [0, 2] as [TimeInterval] {
            try await withServer { connection, _ in
                guard connection.number > 1 else {
                    return connection.reply(page.status, page.body("", ""), fields: page.fields)
                }
                connection.reply(200, tokens("A1", "RT1"))
            } _: { server in
                let store = SharedStore(Self.start, takeOverDelay: takeOverDelay)
                let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
                let error = await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) }
                #expect(error?.isTransient == true && error?.mayHaveBeenCarriedOut == true)
                #expect(error?.sessionMayBeSpent == false && "\(error as Any)".contains("page"))
                #expect(try await loader.load(replacing: old).value == "A1")
                #expect(try await store.refreshToken == "RT1")
            }
        }
    }

    /// Of a server that does not stop, as after replies that are lost: twice in the quiet time.
    @Test func `a page that stays is asked for twice at most, and then after a while`() async throws {
        try await withServer(replying: 200, "<html>") { server in
            let (store, clock) = (SharedStore(Self.start), ManualClock())
            let loader = OAuthLoader(endpoint: try server.endpoint(clock: clock), store: store)
            for _ in 0..<4 { await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) } }
            #expect(server.requests.count == 2)
            clock.advance(by: 5)
            await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) }
            #expect(server.requests.count == 3)
            #expect(try await store.refreshToken == "RT0")
        }
    }

    @Test func `a form is read as an object is`() async throws {
        let shape = ReplyShape("a form", type: "application/x-www-form-urlencoded") {
            "access_token=\($0)&refresh_token=\($1)&token_type=bearer&scope=a+b%2Fc&expires_in=60"
        }
        try await withStrictServer(replying: shape) { server, session in
            let store = MemoryCredentialStore(Self.start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            #expect(try await loader.load(replacing: old).value == "A1")
            #expect(try await store.credential?.scope == "a b/c")
            #expect(try await loader.load(replacing: AccessToken(value: "A1")).value == "A2")
            #expect(session.sent == ["RT0", "RT1"])
        }
    }

    @Test func `a login ends it, with another credential or with the same one`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, connection.number < 3 ? #"{"x":1}"# : tokens("A\(connection.number)", "RT1"))
        } _: { server in
            let store = SharedStore(Self.start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            for _ in 0..<2 { await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) } }
            try await loader.signIn(try #require(try await store.credential))
            for _ in 0..<2 { await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) } }
            try await loader.signIn(Credential(refreshToken: "NEW"))
            #expect(try await loader.load(replacing: old).value == "A3")
            #expect(server.requests.count == 3)
        }
    }

    @Test func `an access token that is still valid is handed out all the same`() async throws {
        try await withStrictServer(replying: Self.unreadable[0]) { server, session in
            let store = SharedStore(Self.start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) }
            #expect(try await loader.load(replacing: nil).value == "A0")
            #expect(session.sent == ["RT0"])
        }
    }

    @Test func `a loader with a grant of its own begins a new session, and tells the app`() async throws {
        try await withServer { connection, request in
            connection.reply(200, request.body.contains("RT0") ? #"{"x":1}"# : tokens("A1"))
        } _: { server in
            let (store, unheard) = (SharedStore(Self.start), UnheardErrors())
            let loader = OAuthLoader(
                endpoint: try server.endpoint(),
                store: store,
                grant: .clientCredentials(),
                onUnheardError: unheard.hear
            )
            #expect(try await loader.load(replacing: old).value == "A1")
            #expect(unheard.all.count { ($0 as? OAuthError)?.sessionMayBeSpent == true } == 1)
            #expect(server.requests.count == 2)
        }
    }

    @Test(arguments: [(404, true), (500, false), (503, false)])
    func `a page of a megabyte behind another status says nothing of the session`(status: Int, isOdd: Bool) async throws
    {
        try await withServer(replying: status, String(repeating: "x", count: 1 << 21)) { server in
            let store = MemoryCredentialStore(Self.start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            for _ in 0..<2 {
                let error = await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) }
                #expect(error?.sessionMayBeSpent == false && error?.isTransient == !isOdd)
            }
            #expect(server.requests.count == 2)
        }
    }

    // MARK: What can be read, and not be used

    private static let unusable = [
        ReplyShape("of type bot") {
            #"{"ok":true,"access_token":"\#($0)","refresh_token":"\#($1)","expires_in":43200,"token_type":"bot"}"#
        },
        ReplyShape("of type BearerToken") {
            #"{"access_token":"\#($0)","refresh_token":"\#($1)","expires_in":"3599","token_type":"BearerToken"}"#
        },
        ReplyShape("that no header carries") { #"{"access_token":"\#($0) x","refresh_token":"\#($1)"}"# },
        ReplyShape("that is missing") { #"{"refresh_token":"\#($1)","unused":"\#($0)"}"# },
        ReplyShape("beside an error") { #"{"access_token":"\#($0)","refresh_token":"\#($1)","error":"strange"}"# },
    ]

    private static let ofStrangeType = ReplyShape("of type User Access Token") {
        #"{"access_token":"\#($0)","refresh_token":"\#($1)","expires_in":7200,"token_type":"User Access Token"}"#
    }
    private static let ofLongType = ReplyShape("of type urn:ietf:params:oauth:token-type:access_token") {
        #"{"access_token":"\#($0)","refresh_token":"\#($1)","expires_in":60,"token_type":"\#(longType)"}"#
    }
    private static let longType = "urn:ietf:params:oauth:token-type:access_token"

    @Test(arguments: unusable + [ofStrangeType, ofLongType])
    func `an access token that cannot be used costs one rotation, and not one for each call`(
        shape: ReplyShape
    ) async throws {
        for takeOverDelay in [0, 2] as [TimeInterval] {
            try await withStrictServer(replying: shape) { server, session in
                let (store, clock) = (SharedStore(Self.start, takeOverDelay: takeOverDelay), ManualClock())
                let endpoint = try server.endpoint(clock: clock)
                let loader = OAuthLoader(endpoint: endpoint, store: store)
                for process in [loader, loader, OAuthLoader(endpoint: endpoint, store: store), loader] {
                    let error = await #expect(throws: OAuthError.self) { try await process.load(replacing: old) }
                    #expect(error?.sessionMayBeSpent == false && error?.isTransient == false)
                    if shape.name.hasPrefix("of type") {
                        #expect("\(error as Any)".contains(String(shape.name.dropFirst(8))), "it names the type")
                    }
                }
                #expect(session.sent == ["RT0"])
                #expect(try await store.refreshToken == "RT1")
                // A server may be mended.
                clock.advance(by: 300)
                await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) }
                try await loader.sendAgain()
                await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) }
                #expect(session.sent == ["RT0", "RT1", "RT2"] && !session.isRevoked)
            }
        }
    }

    @Test(
        arguments: [(unusable[0], 43_200), (unusable[1], 3_599), (ofStrangeType, 7_200), (ofLongType, 60)]
            as [(ReplyShape, TimeInterval)]
    )
    func `a type that the endpoint is told to take is taken, also right after a refusal`(
        shape: ReplyShape,
        lifetime: TimeInterval
    ) async throws {
        try await withStrictServer(replying: shape) { server, session in
            let (store, clock) = (SharedStore(Self.start), ManualClock())
            var endpoint = try server.endpoint(clock: clock)
            let refusing = OAuthLoader(endpoint: endpoint, store: store)
            await #expect(throws: OAuthError.self) { try await refusing.load(replacing: old) }
            endpoint.tokenTypes.insert(String(shape.name.dropFirst(8)).uppercased())
            let token = try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: old)
            #expect(token == AccessToken(value: "A2", expiration: clock.now.addingTimeInterval(lifetime)))
            #expect(session.sent == ["RT0", "RT1"])
        }
    }

    // MARK: Mappings

    @Test func `a mapping finds the tokens where the server has put them`() async throws {
        for (shape, name) in [(Self.unreadable[0], "body"), (Self.unreadable[1], "data")] {
            try await withStrictServer(replying: shape) { server, session in
                let (store, clock) = (MemoryCredentialStore(Self.start), ManualClock())
                var endpoint = try server.endpoint(clock: clock)
                endpoint.replyMapping = { TokenResponse(members: $0.members(of: name), received: $0.received) }
                let loader = OAuthLoader(endpoint: endpoint, store: store)
                let token = try await loader.load(replacing: old)
                #expect(token == AccessToken(value: "A1", expiration: clock.now.addingTimeInterval(60)))
                #expect(try await loader.load(replacing: token).value == "A2")
                #expect(session.sent == ["RT0", "RT1"])
            }
        }
    }

    @Test func `what a mapping reads is checked, and the refresh token beside a bad access token is saved`()
        async throws
    {
        try await withStrictServer(replying: Self.unreadable[2]) { server, session in
            let store = MemoryCredentialStore(Self.start)
            var endpoint = try server.endpoint()
            endpoint.replyMapping = { reply in
                let refreshToken = reply.members["renewal"]
                return TokenResponse(accessToken: AccessToken(value: "A\r\n"), refreshToken: refreshToken)
            }
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            for _ in 0..<2 {
                let error = await #expect(throws: OAuthError.self) { try await loader.load(replacing: old) }
                #expect(error?.sessionMayBeSpent == false)
            }
            #expect(try await store.refreshToken == "RT1")
            #expect(session.sent == ["RT0"])
        }
    }

    /// OpenID Connect Core, section 12.2: a renewal may have no ID token.
    @Test func `a mapping takes this token or none, and the refresh token is saved`() async throws {
        try await withServer { connection, _ in
            let identity = connection.number == 2 ? "" : #""id_token":"I\#(connection.number)","#
            connection.reply(
                200,
                #"{\#(identity)"access_token":"A","refresh_token":"RT\#(connection.number)","expires_in":60}"#
            )
        } _: { server in
            let (store, clock) = (MemoryCredentialStore(Self.start), ManualClock())
            var endpoint = try server.endpoint(clock: clock)
            endpoint.replyMapping = { reply in
                TokenResponse(members: reply.members, received: reply.received, accessTokenIn: "id_token")
            }
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            #expect(try await loader.load(replacing: old).value == "I1")
            let error = await #expect(throws: OAuthError.self) {
                try await loader.load(replacing: AccessToken(value: "I1"))
            }
            #expect(error?.isTransient == false && error?.sessionMayBeSpent == false)
            #expect(try await store.refreshToken == "RT2")
            clock.advance(by: 300)
            #expect(try await loader.load(replacing: AccessToken(value: "I1")).value == "I3")
        }
    }

    @Test(arguments: ["refreshToken", "RefreshToken", "refresh-token", "REFRESH_TOKEN"])
    func `another spelling of a name is read, so that the next refresh token is not lost`(name: String) async throws {
        let shape = ReplyShape(name) { #"{"accessToken":"\#($0)","tokenType":"Bearer","\#(name)":"\#($1)"}"# }
        try await withStrictServer(replying: shape) { server, session in
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: MemoryCredentialStore(Self.start))
            #expect(try await loader.load(replacing: old).value == "A1")
            #expect(try await loader.load(replacing: AccessToken(value: "A1")).value == "A2")
            #expect(session.sent == ["RT0", "RT1"])
        }
    }
}
