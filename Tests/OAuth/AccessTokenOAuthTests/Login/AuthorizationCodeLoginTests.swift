import Foundation
import OAuthFoundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("A login by code with PKCE", .takesTurns, .endsHangs)
struct AuthorizationCodeLoginTests {
    private static let redirectURI = "com.example.app:/callback"

    private func server(
        _ authorizationURL: String = "https://as.example/authorize",
        issuer: String? = nil,
        sendsIssuer: Bool = false
    ) throws -> AuthorizationServer {
        AuthorizationServer(
            issuer: issuer.flatMap { URL(string: $0) },
            authorizationURL: URL(string: authorizationURL),
            tokenURL: URL(string: "https://as.example/token"),
            sendsIssuer: sendsIssuer
        )
    }

    private func login(
        _ authorizationURL: String = "https://as.example/authorize",
        issuer: String? = nil,
        sendsIssuer: Bool = false,
        redirectURI: String = AuthorizationCodeLoginTests.redirectURI,
        scope: String? = nil,
        parameters: KeyValuePairs<String, String> = [:]
    ) throws -> AuthorizationCodeLogin {
        try AuthorizationCodeLogin(
            at: try server(authorizationURL, issuer: issuer, sendsIssuer: sendsIssuer),
            clientID: "app",
            redirectURI: redirectURI,
            scope: scope,
            parameters: parameters
        )
    }

    private func query(_ url: URL) -> [String: String] {
        let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { "\($0) \($1)" }
    }

    private func redirect(
        _ login: AuthorizationCodeLogin,
        _ more: String,
        to start: String = AuthorizationCodeLoginTests.redirectURI
    ) throws -> URL {
        let state = try #require(query(login.url)["state"])
        return try #require(URL(string: "\(start)?state=\(state)&\(more)"))
    }

    private func failure(_ body: () throws -> TokenGrant) -> LoginError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? LoginError
        }
    }

    @Test func `opens a URL with all that RFC 6749 and RFC 7636 ask for, and keeps the endpoint's own query`() throws {
        let login = try login(
            "https://as.example/authorize?tenant=a%20b",
            scope: "read write",
            parameters: [
                "prompt": "login", "login_hint": "a+b@example", "resource": "https://a", "resource": "https://b",
            ]
        )
        #expect(login.url.absoluteString.hasPrefix("https://as.example/authorize?tenant=a%20b&response_type=code&"))
        #expect(!login.url.absoluteString.contains("+"))
        var query = query(login.url)
        #expect(query.removeValue(forKey: "state")?.count == 43)
        #expect(query.removeValue(forKey: "code_challenge")?.count == 43)
        #expect(
            query == [
                "tenant": "a b", "response_type": "code", "client_id": "app", "redirect_uri": Self.redirectURI,
                "scope": "read write", "code_challenge_method": "S256", "prompt": "login", "login_hint": "a+b@example",
                "resource": "https://a https://b",
            ]
        )
    }

    @Test func `makes the grant of the redirect, with the verifier of its challenge, and the resources`() throws {
        let login = try login(parameters: ["resource": "https://a"])
        let grant = try login.grant(from: try redirect(login, "code=a%2Bb+c"))
        let sent = Dictionary(grant.parameters.map { ($0.name, $0.value) }) { $1 }
        #expect(sent["grant_type"] == "authorization_code")
        #expect(sent["code"] == "a+b c")
        #expect(sent["redirect_uri"] == Self.redirectURI)
        #expect(sent["resource"] == "https://a")
        let verifier = try #require(sent["code_verifier"])
        #expect(LoginSecret.challenge(of: verifier) == query(login.url)["code_challenge"])
    }

    @Test func `has one answer, also for its copies`() throws {
        let login = try login()
        let copy = login
        _ = try login.grant(from: try redirect(login, "code=c"))
        #expect(failure { try copy.grant(from: try redirect(login, "code=c")) } == .alreadyAnswered)
        #expect(failure { try login.grant(from: try redirect(login, "error=access_denied")) } == .alreadyAnswered)
    }

    @Test(arguments: [
        "com.example.app:/other?code=c", "com.example.other:/callback?code=c", "com.example.app://host/callback?code=c",
        "com.example.app:/callback/?code=c", "https://as.example/?code=c", "com.example.app:?code=c", "callback?code=c",
    ])
    func `waits on after a URL that is not its redirect`(url: String) throws {
        let login = try login()
        let state = try #require(query(login.url)["state"])
        let foreign = try #require(URL(string: "\(url)&state=\(state)"))
        #expect(failure { try login.grant(from: foreign) } == .foreignRedirect)
        _ = try login.grant(from: try redirect(login, "code=c"))
    }

    @Test(arguments: [
        "", "state=", "state=other", "state=%FF", "error=access_denied", "state=other&error=access_denied", "iss=x",
    ])
    func `waits on after a redirect of another login, and believes nothing of it`(more: String) throws {
        let login = try login()
        let foreign = try #require(URL(string: "\(Self.redirectURI)?code=c&\(more)"))
        #expect(failure { try login.grant(from: foreign) } == .wrongState)
        #expect(failure { try login.grant(from: try redirect(login, "state=other&code=c")) } == .wrongState)
        _ = try login.grant(from: try redirect(login, "code=c"))
    }

    @Test(arguments: [
        ("", "code is missing"), ("code=", "code is missing"), ("code=a&code=a", "code is repeated"),
        ("code=%FF", "code is not readable"),
        ("code=%0Aa", "code is not readable"),
        ("code=a&error=access_denied", "error is beside a code"), ("error=a&error=b", "error is repeated"),
        ("error=no%20code%20at%20all%21", "error is not a code"), ("code=a&iss=b&iss=b", "iss is repeated"),
    ])
    func `takes no redirect with a missing, repeated or unreadable parameter`(more: String, what: String) throws {
        let login = try login()
        let error = failure { try login.grant(from: try redirect(login, more)) }
        #expect(error?.description.contains(what) == true, "\(String(describing: error))")
        #expect(error?.isDenied == false && error?.isTransient == false)
        #expect(failure { try login.grant(from: try redirect(login, "code=c")) } == .alreadyAnswered)
    }

    @Test func `compares the issuer where it is known`() throws {
        let own = "https://as.example"
        let encoded = "https%3A%2F%2Fas.example"
        let cases: [(issuer: String?, sends: Bool, named: String, isTaken: Bool)] = [
            (own, true, "&iss=\(encoded)", true), (own, false, "&iss=\(encoded)", true), (own, false, "", true),
            (own, true, "", false), (own, false, "&iss=https%3A%2F%2Fother.example", false),
            (own, true, "&iss=\(encoded)%2F", false), (nil, false, "&iss=anything", true),
        ]
        for one in cases {
            let login = try login(issuer: one.issuer, sendsIssuer: one.sends)
            let error = failure { try login.grant(from: try redirect(login, "code=c\(one.named)")) }
            #expect(error == (one.isTaken ? nil : .wrongIssuer(expected: own, found: nil)), "\(one)")
        }
        let login = try login(issuer: own, sendsIssuer: true)
        let error = failure { try login.grant(from: try redirect(login, "error=access_denied&iss=https%3A%2F%2Fevil")) }
        #expect(error?.logCode == "wrong_issuer", "an error of another server is not believed either")
        let silent = try self.login(issuer: own, sendsIssuer: true)
        let unnamed = failure { try silent.grant(from: try redirect(silent, "code=c")) }
        #expect(unnamed.map { "\($0)".contains("sendsIssuer") } == true, "no name of the app's is wrong")
    }

    @Test(arguments: [
        ("access_denied", "denied"), ("server_error", "transient"), ("temporarily_unavailable", "transient"),
        ("invalid_scope", "configuration"), ("unauthorized_client", "configuration"), ("login_required", "interaction"),
        ("made_up", "configuration"), ("user_cancelled_authorize", "denied"), ("user_cancelled_login", "denied"),
        ("authorization_declined", "denied"),
    ])
    func `says what to do about what the server refuses`(code: String, kind: String) throws {
        let login = try login()
        let error = try #require(
            failure {
                try login.grant(from: try redirect(login, "error=\(code)&error_description=Because%1B%5B31m+so"))
            }
        )
        #expect(error.code == code)
        #expect(error.serverExplanation == "Because[31m so")
        #expect(error.isDenied == (kind == "denied"))
        #expect(error.isTransient == (kind == "transient"))
        #expect(error.isConfigurationMistake == (kind == "configuration"))
        #expect(error.requiresInteraction == (kind == "interaction"))
        #expect(error.description.contains(code) && !error.description.contains("Because"))
        #expect(error.description.contains("access was denied") == error.isDenied)
        #expect(!everythingShown(by: error).contains("Because"))
    }

    @Test(arguments: [
        ("https://app.example", "https://app.example/"), ("https://app.example/", "https://APP.example:443"),
        ("HTTP://127.0.0.1:8400/cb", "http://127.0.0.1:8400/cb"), ("http://[::1]:8400/cb", "http://[::1]:8400/cb"),
        ("com.example.app:/cb", "COM.example.app:/cb"),
        ("https://app.example/cb?a=b%20c", "https://app.example/cb?a=b+c"),
    ])
    func `takes its redirect in any spelling that servers use`(registered: String, sent: String) throws {
        let login = try login(redirectURI: registered)
        let state = try #require(query(login.url)["state"])
        let separator = sent.contains("?") ? "&" : "?"
        _ = try login.grant(from: try #require(URL(string: "\(sent)\(separator)code=c&state=\(state)#_=_")))
    }

    @Test(arguments: [
        "http://app.example/cb", "javascript:alert(1)", "data:text/html,a", "file:///tmp/a", "callback", "",
        "https://a#b",
        "https://user@app.example/", "http://127.0.0.1.evil.example/", "https://",
    ])
    func `takes no redirect URI that could carry a code away`(redirectURI: String) {
        #expect(throws: LoginError.self) { try login(redirectURI: redirectURI) }
    }

    @Test(arguments: [
        "http://as.example/a", "ftp://as.example/a", "https://user:secret@as.example/a", "https://as.example/a#b",
        "https://as.example/a?state=x", "https://as.example/a?client_id=x", "javascript:alert(1)", "file:///etc/passwd",
    ])
    func `takes no authorization endpoint that cannot be opened safely`(authorizationURL: String) {
        #expect(throws: LoginError.self) { try login(authorizationURL) }
    }

    @Test func `takes no parameter that it sets itself, or that comes twice, and needs a client and an endpoint`()
        throws
    {
        #expect(throws: LoginError.self) { try login(parameters: ["state": "x"]) }
        #expect(throws: LoginError.self) { try login(parameters: ["prompt": "x", "prompt": "y"]) }
        #expect(throws: LoginError.self) { try login("https://a/?prompt=x", parameters: ["prompt": "y"]) }
        let server = try server()
        #expect(throws: LoginError.self) {
            try AuthorizationCodeLogin(at: server, clientID: "", redirectURI: Self.redirectURI)
        }
        let none = AuthorizationServer(tokenURL: nil)
        #expect(throws: LoginError.self) {
            try AuthorizationCodeLogin(at: none, clientID: "app", redirectURI: Self.redirectURI)
        }
        #expect(throws: LoginError.self) { try none.tokenEndpoint(.none(clientID: "app")) }
    }

    @Test func `shows no secret, whatever is printed of it`() throws {
        let login = try login()
        let state = try #require(query(login.url)["state"])
        let challenge = try #require(query(login.url)["code_challenge"])
        let grant = try login.grant(from: try redirect(login, "code=the-code"))
        let verifier = try #require(grant.parameters.first { $0.name == "code_verifier" }).value
        for shown in [everythingShown(by: login), everythingShown(by: grant)] {
            for secret in [state, challenge, verifier, "the-code"] { #expect(!shown.contains(secret)) }
        }
    }

    @Test func `a server that repeats the state in its error shows nothing of it`() throws {
        let login = try login()
        let state = try #require(query(login.url)["state"])
        let error = try #require(
            failure { try login.grant(from: try redirect(login, "error=x&error_description=for+\(state)")) }
        )
        #expect(error.serverExplanation == "for <hidden>")
    }

    @Test func `a password is a grant that shows neither the name nor the password`() throws {
        let grant = TokenGrant.password("pass word", username: "alice", scope: "read")
        let form = FormEncoding.body(grant.parameters)
        #expect(form == "grant_type=password&username=alice&password=pass+word&scope=read")
        #expect(!everythingShown(by: grant).contains("alice") && !everythingShown(by: grant).contains("pass word"))
    }
}
