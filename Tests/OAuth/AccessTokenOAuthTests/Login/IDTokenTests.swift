import AccessTokenSynchronization
import Foundation
import OAuthFoundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

/// Issuer, audience, expiry, nonce and hash of an ID token (OpenID Connect Core, sections 3.1.3.7 and 12.2).
@Suite("An ID token", .takesTurns, .endsHangs)
struct IDTokenTests {
    private static let issuer = "https://as.example"
    private static let future = Int(Date.now.timeIntervalSince1970) + 3600
    private static let past = Int(Date.now.timeIntervalSince1970) - 3600

    private static func base64URL(_ text: String) -> String {
        Data(text.utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Members as JSON; `nil` leaves one out.
    private static func token(_ changes: [String: String?] = [:], algorithm: String = "RS256") -> String {
        var claims: [String: String?] = [
            "iss": #""\#(issuer)""#, "sub": #""ann""#, "aud": #""app""#, "exp": "\(future)", "nonce": #""N""#,
        ]
        claims.merge(changes) { $1 }
        let json = claims.compactMap { name, value in value.map { #""\#(name)":\#($0)"# } }.sorted().joined(
            separator: ","
        )
        return "\(base64URL(#"{"alg":"\#(algorithm)"}"#)).\(base64URL("{\(json)}")).c2ln"
    }

    private func reply(_ idToken: String?, headers: [String: String] = [:]) -> TokenEndpointReply {
        let member = idToken.map { #","id_token":"\#($0)""# } ?? ""
        let body = #"{"access_token":"AT","token_type":"Bearer","expires_in":60,"refresh_token":"RT"\#(member)}"#
        return TokenEndpointReply(status: 200, headers: headers, body: Data(body.utf8))
    }

    /// What an exchange makes of a reply with this ID token.
    private func outcome(_ idToken: String?, _ check: IDTokenCheck?) -> TokenReply {
        let grant = TokenGrant.refreshToken("old").expecting(check)
        return TokenReplyReader(secrets: [], of: grant, ways: .init()).read(reply(idToken))
    }

    private static let ofLogin = IDTokenCheck(issuer: issuer, clientID: "app", nonce: "N")

    // MARK: At login

    private static let hash = LoginSecret.halfDigest(of: "AT")

    @Test(arguments: [
        token(), token(["aud": #"["other","app"]"#]), token(["azp": #""app""#]), token(["exp": "\(future).5"]),
        token(["at_hash": #""\#(hash)""#]), token(["exp": "\(Int(Date.now.timeIntervalSince1970) - 60)"]),
        // The page names what is not looked at.
        token(["iat": "\(future)", "nbf": "\(future)", "auth_time": "0"]),
        // Its hash is of another length, which this package cannot compute.
        token(["at_hash": #""short""#], algorithm: "RS512"), token(["at_hash": #""x""#], algorithm: "none"),
        // Encrypted: nobody can look into it here.
        "a.b.c.d.e",
    ])
    func `that says what the login asked for is taken`(_ idToken: String) throws {
        let reply = outcome(idToken, Self.ofLogin)
        #expect(try reply.result.get().idToken == idToken)
    }

    @Test(
        arguments: [
            (["iss": #""https://evil.example""#], "issuer"), (["iss": nil], "issuer"),
            (["iss": #""https://as.example/""#], "issuer"), (["aud": #""other""#], "client"), (["aud": nil], "client"),
            (["aud": #"["other"]"#], "client"), (["azp": #""other""#], "client"), (["exp": "\(past)"], "expired"),
            (["exp": nil], "expired"), (["exp": #""soon""#], "expired"), (["nonce": #""other""#], "nonce"),
            (["nonce": nil], "has no nonce"), (["at_hash": #""AAAAAAAAAAAAAAAAAAAAAA""#], "another access token"),
        ] as [([String: String?], String)]
    )
    func `that says something else is refused, and the refresh token is kept`(
        changes: [String: String?],
        what: String
    ) throws {
        let reply = outcome(Self.token(changes), Self.ofLogin)
        let error = try #require(reply.error)
        #expect(error.hasUnusableToken && "\(error)".contains(what), "\(error)")
        #expect(reply.rescuedRefreshToken == "RT")
    }

    /// The machine's clock is years ahead of the server's, or behind it.
    @Test(arguments: [
        (date: "Tue, 15 Nov 1994 08:12:31 GMT", expiration: 784_890_751, isTaken: true),
        (date: "Tue, 15 Nov 1994 08:12:31 GMT", expiration: 784_880_000, isTaken: false),
        (date: "Wed, 01 Jan 2098 00:00:00 GMT", expiration: 4_039_372_801, isTaken: true),
        (date: "Wed, 01 Jan 2098 00:00:00 GMT", expiration: future, isTaken: false),
    ])
    func `expires by the server's clock`(_ row: (date: String, expiration: Int, isTaken: Bool)) {
        let idToken = Self.token(["exp": "\(row.expiration)"])
        let grant = TokenGrant.refreshToken("old").expecting(Self.ofLogin)
        let reply = reply(idToken, headers: ["Date": row.date])
        let error = TokenReplyReader(secrets: [], of: grant, ways: .init()).read(reply).error
        #expect((error == nil) == row.isTaken, "\(String(describing: error))")
    }

    @Test func `that cannot be read is refused where one was asked for`() {
        #expect(outcome("a.b", Self.ofLogin).error?.hasUnusableToken == true)
        #expect(outcome("a.b", IDTokenCheck(issuer: nil, clientID: "app")).error == nil)
    }

    @Test func `that is not there is none that can be wrong`() {
        #expect(outcome(nil, Self.ofLogin).error == nil)
    }

    @Test func `of a server that has not said its name may name any issuer, and Google's may lack its scheme`() {
        #expect(outcome(Self.token(), IDTokenCheck(issuer: nil, clientID: "app", nonce: "N")).error == nil)
        let google = IDTokenCheck(issuer: "https://accounts.google.com", clientID: "app", nonce: "N")
        #expect(outcome(Self.token(["iss": #""accounts.google.com""#]), google).error == nil)
        let bare = IDTokenCheck(issuer: "accounts.google.com", clientID: "app", nonce: "N")
        #expect(outcome(Self.token(["iss": #""https://accounts.google.com""#]), bare).error == nil)
        #expect(outcome(Self.token(["iss": #""http://accounts.google.com""#]), google).error != nil)
        #expect(outcome(Self.token(["iss": #""as.example""#]), Self.ofLogin).error != nil)
    }

    @Test(arguments: [("openid notes", true), ("notes", false), (nil, false), ("openidx", false)] as [(String?, Bool)])
    func `is asked for with a nonce by the scope openid, which the grant expects`(scope: String?, hasNonce: Bool) throws
    {
        let login = try login(scope: scope)
        let nonce = query(login.url)["nonce"]
        #expect((nonce != nil) == hasNonce)
        let grant = try login.grant(from: try redirect(login))
        #expect(grant.idToken == IDTokenCheck(issuer: Self.issuer, clientID: "app", nonce: nonce))
        #expect(grant.adding(["resource": "https://a"]).idToken == grant.idToken)
        #expect(!everythingShown(by: grant).contains(nonce ?? "no nonce"))
    }

    @Test func `is asked for with the nonce of the app, if the app names one`() throws {
        let login = try login(scope: "openid", parameters: ["nonce": "mine"])
        #expect(query(login.url)["nonce"] == "mine")
        #expect(try login.grant(from: try redirect(login)).idToken?.nonce == "mine")
    }

    @Test func `is asked for without a nonce, and taken without one, if the app names an empty one`() throws {
        let login = try login(scope: "openid", parameters: ["nonce": ""])
        #expect(query(login.url)["nonce"] == nil)
        #expect(query(login.url)["code_challenge"] != nil)
        let check = try #require(try login.grant(from: try redirect(login)).idToken)
        #expect(outcome(Self.token(["nonce": nil]), check).error == nil)
        #expect(outcome(Self.token(["nonce": nil, "aud": #""other""#]), check).error != nil)
    }

    private func login(
        scope: String?,
        parameters: KeyValuePairs<String, String> = [:]
    ) throws -> AuthorizationCodeLogin {
        let server = AuthorizationServer(
            issuer: URL(string: Self.issuer),
            authorizationURL: URL(string: "https://as.example/authorize"),
            tokenURL: URL(string: "https://as.example/token")
        )
        return try AuthorizationCodeLogin(
            at: server,
            clientID: "app",
            redirectURI: "app:/callback",
            scope: scope,
            parameters: parameters
        )
    }

    private func query(_ url: URL) -> [String: String] {
        let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
    }

    private func redirect(_ login: AuthorizationCodeLogin) throws -> URL {
        try #require(URL(string: "app:/callback?code=c&state=\(query(login.url)["state"] ?? "")"))
    }

    // MARK: At a renewal

    private static let old = Credential(refreshToken: "old", otherMembers: ["id_token": token()])

    @Test(
        arguments: [
            [:], ["nonce": nil], ["exp": nil], ["aud": #"["app","other"]"#], ["sub": #""bob""#],
        ] as [[String: String?]]
    )
    func `of a renewal need not repeat the nonce`(changes: [String: String?]) {
        #expect(outcome(Self.token(changes), IDTokenCheck(renewing: Self.old)).error == nil)
    }

    @Test(
        arguments: [
            ["iss": #""https://evil.example""#], ["iss": nil], ["aud": #""other""#], ["exp": "\(past)"],
            ["nonce": #""other""#], ["at_hash": #""AAAAAAAAAAAAAAAAAAAAAA""#],
        ] as [[String: String?]]
    )
    func `of a renewal is that of the session's beginning`(changes: [String: String?]) {
        #expect(outcome(Self.token(changes), IDTokenCheck(renewing: Self.old)).error?.hasUnusableToken == true)
    }

    @Test func `of a session that had none, or one that cannot be read, is not compared`() {
        #expect(IDTokenCheck(renewing: Credential(refreshToken: "old")) == nil)
        let unreadable = Credential(refreshToken: "old", otherMembers: ["id_token": "a.b"])
        #expect(IDTokenCheck(renewing: unreadable) == nil)
    }

    @Test func `that is wrong costs no session: the loader keeps the refresh token, and hands out no access token`()
        async throws
    {
        let wrong = Self.token(["iss": #""https://evil.example""#])
        try await withServer { connection, _ in
            let body = #"{"access_token":"AT","token_type":"Bearer","refresh_token":"RT1","id_token":"\#(wrong)"}"#
            connection.reply(200, body)
        } _: { server in
            let store = MemoryCredentialStore(Self.old)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            let error = await #expect(throws: OAuthError.self) { try await loader.load(replacing: nil) }
            #expect(error?.hasUnusableToken == true && error?.needsLogin == false)
            #expect(error.map { "\($0)".contains("let the user sign in again") } == true)
            #expect(try await store.refreshToken == "RT1")
            #expect(try await store.credential?.idToken == Self.token())
            #expect(server.requests.count == 1)
        }
    }

    @Test func `of a device's login is one as well`() async throws {
        let wrong = Self.token(["aud": #""other""#, "nonce": nil])
        try await withServer { connection, request in
            let page = "http://\(request.fields["host"] ?? "")/"
            let codes = #"{"device_code":"D","user_code":"U","verification_uri":"\#(page)","expires_in":60}"#
            let tokens = #"{"access_token":"AT","token_type":"Bearer","id_token":"\#(wrong)"}"#
            connection.reply(200, request.body.contains("grant_type") ? tokens : codes)
        } _: { scripted in
            let server = AuthorizationServer(
                issuer: URL(string: Self.issuer),
                tokenURL: try scripted.url,
                deviceAuthorizationURL: try scripted.url
            )
            let clock = PauseClock()
            let login = try await DeviceLogin(at: server, with: try scripted.endpoint(clock: clock))
            let response = Task { try await login.response() }
            _ = await clock.endPause()
            let error = await #expect(throws: OAuthError.self) { try await response.value }
            #expect(error?.hasUnusableToken == true && error.map { "\($0)".contains("client") } == true)
        }
    }

    @Test func `that the app puts in place of the access token is none of its hash`() {
        let idToken = Self.token(["at_hash": #""\#(Self.hash)""#])
        let grant = TokenGrant.refreshToken("old").expecting(Self.ofLogin)
        var ways = TokenReplyReader.Ways()
        ways.reply = { TokenResponse(members: $0.members, received: $0.received, accessTokenIn: "id_token") }
        let reply = TokenReplyReader(secrets: [], of: grant, ways: ways).read(self.reply(idToken))
        #expect(reply.error == nil)
    }
}
