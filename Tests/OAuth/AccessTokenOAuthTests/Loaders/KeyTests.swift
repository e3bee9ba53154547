import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Several audiences from one refresh token", .takesTurns, .endsHangs)
struct KeyTests {
    private static let login = Credential(
        accessToken: AccessToken(value: "LOGIN", expiration: .distantFuture),
        refreshToken: "RT0"
    )

    /// A strict server whose access tokens say for which resource they are: `A3-a`.
    private func withResources(_ body: (ScriptedServer, StrictSession) async throws -> Void) async throws {
        let session = StrictSession()
        try await withServer { connection, request in
            guard let number = session.rotate(request.body) else {
                return connection.reply(400, #"{"error":"invalid_grant"}"#)
            }
            let resource = request.body.firstMatch(of: /(?:resource|audience|scope)=(\w)/).map { "\($0.1)" } ?? "none"
            connection.reply(200, tokens("A\(number)-\(resource)", "RT\(number)"))
        } _: { server in
            try await body(server, session)
            #expect(!session.isRevoked)
        }
    }

    @Test(arguments: ["resource", "audience", "scope"], [0, 2] as [TimeInterval])
    func `each caller gets the token of its own service, and each refresh token is sent once`(
        name: String,
        takeOverDelay: TimeInterval
    ) async throws {
        try await withResources { server, session in
            let store = SharedStore(Self.login, takeOverDelay: takeOverDelay)
            let endpoint = try server.endpoint()
            let services = ["a", "b"].map { key in
                let exchange = TokenExchange(endpoint, parameters: [name: key])
                let loader = OAuthLoader(exchange, store: store)
                return (key, AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline))
            }
            for _ in 0..<4 {
                let values = try await withThrowingTaskGroup(of: (String, AccessToken).self) { group in
                    for number in 0..<40 {
                        group.addTask { (services[number % 2].0, try await services[number % 2].1.token()) }
                    }
                    return try await group.reduce(into: [:]) { $0[$1.0, default: []] += [$1.1] }
                }
                for (key, service) in services {
                    let token = try #require(values[key]?.first)
                    #expect(Set(values[key] ?? []) == [token] && token.value.hasSuffix("-\(key)"))
                    await service.invalidate(token)
                }
            }
            #expect(session.sent == (0..<8).map { "RT\($0)" })
            // The login's own token is nobody's but that of a loader without a key.
            #expect(try await store.credential?.accessToken == Self.login.accessToken)
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            #expect(try await loader.load(replacing: nil).value == "LOGIN")
            #expect(try await loader.load(replacing: Self.login.accessToken).value == "A9-none")
        }
    }

    @Test func `a token that another process has loaded for the same key is adopted, and one of another key is not`()
        async throws
    {
        try await withResources { server, session in
            let store = SharedStore(Self.login)
            func loader(_ key: String) throws -> OAuthLoader {
                OAuthLoader(endpoint: try server.endpoint(), store: store, parameters: ["resource": key])
            }
            #expect(try await loader("a").load(replacing: nil).value == "A1-a")
            #expect(try await loader("a").load(replacing: nil).value == "A1-a")
            #expect(try await loader("b").load(replacing: nil).value == "A2-b")
            #expect(try await loader("a").load(replacing: nil).value == "A1-a")
            #expect(session.sent == ["RT0", "RT1"])
            let credential = try #require(try await store.credential)
            #expect(credential.accessToken(for: "resource=b")?.value == "A2-b")
            #expect(credential.accessToken(for: nil)?.value == "LOGIN" && credential.accessToken(for: "c") == nil)
        }
    }

    @Test func `a record is as before until a key is used, and records of before are read`() async throws {
        let old = #"{"accessToken":{"value":"A0"},"refreshToken":"RT0"}"#
        let credential = try JSONDecoder().decode(Credential.self, from: Data(old.utf8))
        #expect(credential == Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0"))
        func json(_ credential: Credential?) throws -> String {
            String(decoding: try JSONEncoder().encode(try #require(credential)), as: UTF8.self)
        }
        #expect(try !json(credential).contains("session"), "nobody knows a number of it")
        #expect(try json(credential.inSession(SessionNumber(7))).contains(#""session":7"#))
        try await withResources { server, _ in
            let store = MemoryCredentialStore(credential)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            _ = try await loader.load(replacing: credential.accessToken)
            let before = try await store.credential
            #expect(try !json(before).contains("keyedTokens"))
            let keyed = OAuthLoader(endpoint: try server.endpoint(), store: store, key: "k")
            #expect(try await keyed.load(replacing: nil).value == "A2-none")
            let after = try await store.credential
            let read = try JSONDecoder().decode(Credential.self, from: Data(json(after).utf8))
            #expect(read.accessToken(for: "k")?.value == "A2-none" && read.accessToken?.value == "A1-none")
            // A later version may write other tokens under keys, which must not cost the session.
            let damaged = #"{"refreshToken":"RT0","keyedTokens":[1]}"#
            #expect(try JSONDecoder().decode(Credential.self, from: Data(damaged.utf8)).refreshToken == "RT0")
        }
    }

    @Test func `keys are told apart by their bytes, also at rest`() throws {
        let keys = ["ren\u{E9}", "rene\u{301}", "plain", "utf8:plain", "resource=https%3A%2F%2Fa"]
        #expect(keys[0] == keys[1])
        let credential = keys.enumerated().reduce(Self.login) { credential, key in
            let response = TokenResponse(accessToken: AccessToken(value: "A\(key.offset)"), refreshToken: "R")
            return Credential(response, renewing: credential, for: key.element, at: .now)
        }
        let coded = try JSONDecoder().decode(Credential.self, from: JSONEncoder().encode(credential))
        for credential in [credential, coded] {
            #expect(keys.map { credential.accessToken(for: $0)?.value } == (0..<keys.count).map { "A\($0)" })
        }
        let unusable = Hold(reason: .interaction(code: "login_required"))
        let held = keys[..<2].map { key in
            var hold = unusable
            hold.key = key
            return DatedHold(hold: hold, since: .now)
        }
        #expect(held.lasting(besides: keys[0], at: .now).count == 1)
    }

    @Test func `a key of an earlier version, written as it is, is read`() throws {
        let old = #"{"refreshToken":"R","keyedTokens":{"ren\u00e9":{"accessToken":{"value":"A"}}}}"#
        let credential = try JSONDecoder().decode(Credential.self, from: Data(old.utf8))
        #expect(credential.accessToken(for: "ren\u{E9}")?.value == "A")
        #expect(credential.accessToken(for: "rene\u{301}") == nil)
    }

    @Test func `tokens of keys move with a store's clock, and what has expired goes`() throws {
        let now = Date(timeIntervalSince1970: 1_000)
        func response(_ value: String) -> TokenResponse {
            TokenResponse(accessToken: AccessToken(value: value, expiration: now + 60), refreshToken: "R")
        }
        let first = Credential(response("A"), renewing: Self.login, for: "a", at: now)
        #expect(first.moved(by: 5).accessToken(for: "a")?.expiration == now + 65)
        #expect(
            !first.isUsable(for: "a", at: now + 31, leeway: 30) && first.isUsable(for: "a", at: now + 29, leeway: 30)
        )
        let second = Credential(response("B"), renewing: first, for: "b", at: now + 61)
        #expect(second.accessToken(for: "a") == nil && second.accessToken(for: "b")?.value == "B")
        #expect(second.accessToken == Self.login.accessToken && !second.isSame(as: first))
        // What holds a key back moves as well, stays beside another key's token, and goes with the end of its time.
        let hold = DatedHold(hold: Hold(reason: .interaction(code: "login_required")), since: now)
        let held = first.holding([hold])
        #expect(held.moved(by: 5).keyedHolds == [hold.moved(by: 5)] && hold.moved(by: 5).since == now + 5)
        #expect(Credential(response("B"), renewing: held, for: "b", at: now + 119).keyedHolds == [hold])
        #expect(Credential(response("B"), renewing: held, for: "b", at: now + 120).keyedHolds == nil)
        #expect(Credential(response("B"), renewing: held, at: now).keyedHolds == nil, "it was its own")
        let stored = try JSONDecoder().decode(Credential.self, from: JSONEncoder().encode(held))
        #expect(stored == held && held.of("ada").keyedHolds == [hold] && held.released == first)
        // Another user's tokens do not stay, whatever their key.
        let other = TokenResponse(
            accessToken: AccessToken(value: "C"),
            otherMembers: ["id_token": "e30.eyJzdWIiOiJldmUifQ.x"]
        )
        let mine = Credential(
            accessToken: AccessToken(value: "M"),
            refreshToken: "R",
            otherMembers: ["id_token": "e30.eyJzdWIiOiJhZGEifQ.x"]
        )
        let taken = Credential(
            other,
            renewing: Credential(response("A"), renewing: mine, for: "a", at: now),
            for: "b",
            at: now
        )
        #expect(taken.accessToken == nil && taken.accessToken(for: "a") == nil && taken.subject == "eve")
    }

    @Test func `a login that one resource wants does not keep the others from loading`() async throws {
        let session = StrictSession()
        try await withServer { connection, request in
            guard !request.body.contains("resource=a") else {
                return connection.reply(400, #"{"error":"interaction_required"}"#)
            }
            let number = session.rotate(request.body) ?? 0
            connection.reply(200, tokens("A\(number)", "RT\(number)"))
        } _: { server in
            let store = SharedStore(Self.login)
            let endpoint = try server.endpoint(clock: ManualClock())
            let loaders = ["a", "b"].map { OAuthLoader(endpoint: endpoint, store: store, parameters: ["resource": $0]) }
            for _ in 0..<2 {
                let error = await #expect(throws: OAuthError.self) { try await loaders[0].load(replacing: nil) }
                #expect(error?.requiresSignIn == true)
            }
            #expect(server.requests.count == 1)
            #expect(try await loaders[1].load(replacing: nil).value == "A1")
            #expect(session.sent == ["RT0"])
        }
    }

    /// Stores on which each loader is as one of another process, and a store whose loaders have only their memory.
    private static let stores: [@Sendable () -> any CredentialStore] = [
        { SharedStore(login, takeOverDelay: 0) }, { SharedStore(login) }, { NotelessStore(login) },
    ]

    @Test(arguments: stores.indices)
    func `what holds one key back outlasts the renewals for another, until it is over`(store index: Int) async throws {
        let session = StrictSession()
        try await withServer { connection, request in
            let number = session.rotate(request.body) ?? 0
            let type = request.body.contains("kind=b") ? "Bearer" : "bot"
            let pair = #""access_token":"A\#(number)","refresh_token":"RT\#(number)""#
            connection.reply(200, #"{\#(pair),"token_type":"\#(type)"}"#)
        } _: { server in
            let (store, clock) = (Self.stores[index](), ManualClock())
            let endpoint = try server.endpoint(clock: clock)
            func loader(_ key: String?) -> OAuthLoader {
                OAuthLoader(endpoint: endpoint, store: store, parameters: ["kind": key ?? "b"], key: key)
            }
            func expectUnusable(_ key: String) async {
                let error = await #expect(throws: OAuthError.self) { try await loader(key).load(replacing: nil) }
                #expect(error?.hasUnusableToken == true)
            }
            let keeper = loader("keeps the memory")
            for key in ["a", "c", "a", "c"] { await expectUnusable(key) }
            #expect(session.sent == ["RT0", "RT1"])
            // A store that keeps no notes keeps no tokens of keys either.
            let renewing = store is NotelessStore ? loader(nil) : loader("b")
            var token = Self.login.accessToken
            for number in 2...4 {
                token = try await renewing.load(replacing: token)
                #expect(token?.value == "A\(number + 1)")
                for key in ["a", "c"] { await expectUnusable(key) }
            }
            #expect(session.sent == (0...4).map { "RT\($0)" })
            try await keeper.sendAgain()
            await expectUnusable("a")
            clock.advance(by: 300)
            for key in ["a", "c"] { await expectUnusable(key) }
            #expect(session.sent == (0...7).map { "RT\($0)" } && !session.isRevoked)
        }
    }

    @Test func `a reply that cannot be read holds the refresh token back for every key`() async throws {
        try await withStrictServer(replying: ReplyShape("other names") { #"{"token":"\#($0)","renewal":"\#($1)"}"# }) {
            server,
            session in
            let store = SharedStore(Self.login)
            for key in ["a", "b", "a"] {
                let loader = OAuthLoader(endpoint: try server.endpoint(), store: store, key: key)
                let error = await #expect(throws: OAuthError.self) { try await loader.load(replacing: nil) }
                #expect(error?.sessionMayBeSpent == true)
            }
            #expect(session.sent == ["RT0"])
        }
    }
}
