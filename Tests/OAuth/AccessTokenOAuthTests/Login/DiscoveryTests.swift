import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import LoopbackAuthorizationServer
import TestKeys
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Discovery of an authorization server", .takesTurns, .endsHangs)
struct DiscoveryTests {
    private static let rfc = "/.well-known/oauth-authorization-server"
    private static let openID = "/.well-known/openid-configuration"

    private func issuer(_ server: ScriptedServer, _ path: String = "") throws -> URL {
        let port = try #require(try server.url.port)
        return try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
    }

    private func path(_ request: ReceivedRequest) -> String { String(request.line.split(separator: " ")[1]) }

    private func metadata(_ issuer: String, _ more: String = "") -> String {
        #"{"issuer":"\#(issuer)","authorization_endpoint":"\#(issuer)/a","token_endpoint":"\#(issuer)/t"\#(more)}"#
    }

    private func error(_ body: () async throws -> AuthorizationServer) async -> LoginError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? LoginError
        }
    }

    /// Discovers at a server that has one answer for every path.
    private func error(
        of status: Int = 200,
        fields: [String: String] = [:],
        _ body: @escaping @Sendable (String) -> String
    ) async throws -> LoginError? {
        try await withServer { connection, request in
            connection.reply(status, body("http://\(request.fields["host"] ?? "")"), fields: fields)
        } _: { server in
            await error { try await ServerDiscovery(cache: MetadataCache()).server(try issuer(server)) }
        }
    }

    @Test(arguments: ["", "/", "/realms/a", "/realms/a/"], [rfc, openID, "none of the usual"])
    func `finds the metadata at each of the places`(path: String, place: String) async throws {
        let suffix = path == "/" ? "" : path == "/realms/a/" ? "/realms/a" : path
        let wanted = [
            Self.rfc: Self.rfc + suffix, Self.openID: suffix + Self.openID, "none of the usual": Self.openID + suffix,
        ]
        try await withServer { connection, request in
            guard self.path(request) == wanted[place] else { return connection.reply(404, "<html>") }
            connection.reply(200, metadata("http://\(request.fields["host"] ?? "")\(path)"))
        } _: { server in
            let issuer = try issuer(server, path)
            let found = try await ServerDiscovery(cache: MetadataCache()).server(issuer)
            #expect(found.issuer == issuer)
            #expect(found.tokenURL?.absoluteString == "\(issuer.absoluteString)/t")
            #expect(found.authorizationURL?.absoluteString == "\(issuer.absoluteString)/a")
            #expect(found.deviceAuthorizationURL == nil && found.revocationURL == nil && !found.sendsIssuer)
            #expect(server.requests[0].line.hasPrefix("GET "))
        }
    }

    @Test func `makes endpoint and login in a line each`() async throws {
        try await withRotatingServer { server in
            let found = try await AuthorizationServer.discover(server.issuer)
            #expect(found.sendsIssuer)
            #expect(found.deviceAuthorizationURL == server.deviceAuthorizationEndpoint)
            let endpoint = try found.tokenEndpoint(.none(clientID: "loopback-client"))
            #expect(endpoint.url == server.tokenEndpoint && endpoint.revocationURL == server.revocationEndpoint)
            let login = try AuthorizationCodeLogin(
                at: found,
                clientID: "loopback-client",
                redirectURI: "http://127.0.0.1:1/callback"
            )
            let redirect = try #require(server.redirect(for: login.url, user: "alice"))
            let response = try await endpoint.exchange(try login.grant(from: redirect))
            #expect(response.refreshToken != nil)
        }
    }

    @Test func `believes no metadata of another issuer, and says both names`() async throws {
        for other in ["https://evil.example", "/", "#"] {
            let error = try await error { host in
                other == "/" ? metadata(host + "/") : other == "#" ? metadata("") : metadata(other)
            }
            #expect(error?.logCode == "wrong_issuer")
            #expect(error?.description.contains("127.0.0.1") == true)
        }
        #expect(try await error { _ in #"{"token_endpoint":"https://a/t"}"# }?.logCode == "bad_metadata")
        #expect(try await error { _ in #"{"issuer":1}"# }?.logCode == "bad_metadata")
    }

    @Test(arguments: [
        #""http://as.example/t""#, #""file:///etc/passwd""#, #""javascript:alert(1)""#, #""https://a@b/t""#, "1", "[]",
        #""/relative""#, #""https://a/b#c""#,
    ])
    func `takes no endpoint that is not safe`(url: String) async throws {
        let names = ["revocation_endpoint", "device_authorization_endpoint", "pushed_authorization_request_endpoint"]
        for name in names {
            let error = try await error { host in metadata(host, #","\#(name)":\#(url)"#) }
            #expect(error?.description.contains("the \(name) of the metadata") == true)
            #expect(error?.isConfigurationMistake == true)
        }
    }

    @Test(arguments: ["null", #""""#])
    func `takes an endpoint that is null or empty for none`(url: String) async throws {
        let names = ["revocation_endpoint", "device_authorization_endpoint", "pushed_authorization_request_endpoint"]
        let members = names.map { #","\#($0)":\#(url)"# }.joined()
        try await withServer { connection, request in
            connection.reply(200, metadata("http://\(request.fields["host"] ?? "")", members))
        } _: { server in
            let found = try await ServerDiscovery(cache: MetadataCache()).server(try issuer(server))
            #expect(found.tokenURL != nil && found.revocationURL == nil && found.deviceAuthorizationURL == nil)
            #expect(found.pushedAuthorizationURL == nil)
        }
    }

    /// Replies to the first place, which say nothing of the next one.
    private static let obstacles: KeyValuePairs = [
        "a page of more than a megabyte": "HTTP/1.1 200 OK\r\nContent-Length: 1100000\r\n\r\n"
            + String(repeating: "x", count: 1_100_000),
        "a body that is cut": "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{",
        "a body that is no gzip": "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx",
        "a head that cannot be read": "HTTP/1.1 200 OK\r\nX-A: \u{0}\r\nContent-Length: 2\r\n\r\n{}",
    ]

    @Test(arguments: obstacles.map(\.key))
    func `goes on to the next place where the first one answers with`(what: String) async throws {
        let obstacle = Self.obstacles.first { $0.key == what }?.value ?? ""
        try await withServer { connection, request in
            guard path(request) == Self.rfc else {
                return connection.reply(200, metadata("http://\(request.fields["host"] ?? "")"))
            }
            connection.send(obstacle)
            connection.end()
        } _: { server in
            let found = try await ServerDiscovery(cache: MetadataCache()).server(try issuer(server))
            #expect(found.tokenURL != nil)
        }
    }

    /// What servers say of proofs (RFC 9449, section 5.1), and whether a login with keys begins.
    private static let proofAlgorithms: [(member: String, read: [String]?, isTaken: Bool)] = [
        ("", nil, true), (#","dpop_signing_alg_values_supported":null"#, nil, true),
        (#","dpop_signing_alg_values_supported":["ES256"]"#, ["ES256"], true),
        (#","dpop_signing_alg_values_supported":["RS256","ES256"]"#, ["RS256", "ES256"], true),
        (#","dpop_signing_alg_values_supported":"ES256""#, ["ES256"], true),
        (#","dpop_signing_alg_values_supported":["RS256","PS256"]"#, ["RS256", "PS256"], false),
        (#","dpop_signing_alg_values_supported":["es256"]"#, ["es256"], false),
        (#","dpop_signing_alg_values_supported":[1,null,"ES384"]"#, ["ES384"], false),
        (#","dpop_signing_alg_values_supported":[]"#, [], false),
        (#","dpop_signing_alg_values_supported":true"#, [], false),
    ]

    @Test(arguments: proofAlgorithms.indices)
    func `says before a login with keys whether the server takes their proofs`(index: Int) async throws {
        let row = Self.proofAlgorithms[index]
        let made = Locked(0)
        let keys = ProofKeys.ofThisMachine(made: { made.withLock { $0 += 1 } })
        try await withServer { connection, request in
            let host = "http://\(request.fields["host"] ?? "")"
            let more = [
                "device_authorization_endpoint", "pushed_authorization_request_endpoint",
            ].map { #","\#($0)":"\#(host)/\#($0)""# }
            connection.reply(200, metadata(host, more.joined() + row.member))
        } _: { scripted in
            let server = try await ServerDiscovery(cache: MetadataCache()).server(try issuer(scripted))
            #expect(server.proofAlgorithms == row.read)
            var endpoint = try scripted.endpoint()
            func login() throws {
                _ = try AuthorizationCodeLogin(
                    at: server,
                    clientID: "app",
                    redirectURI: "app:/x",
                    proofKeys: endpoint.proofKeys
                )
            }
            // Without keys, nobody minds.
            try login()
            endpoint.proofKeys = keys
            guard !row.isTaken else { return try login() }
            let logins: [() async throws -> Void] = [
                login,
                { _ = try await AuthorizationCodeLogin(at: server, with: endpoint, redirectURI: "app:/x") },
                { _ = try await DeviceLogin(at: server, with: endpoint) },
            ]
            for login in logins {
                let error = await #expect(throws: LoginError.self) { try await login() }
                #expect(error?.isConfigurationMistake == true)
                let words = error?.description ?? ""
                #expect(words.contains("ES256") && words.contains(row.read?.first ?? "none"))
            }
            #expect(scripted.requests.count == 1 && made.withLock { $0 } == 0)
        }
    }

    /// What servers say of pushed requests (RFC 9126, section 5).
    @Test(arguments: [
        (#","require_pushed_authorization_requests":true"#, true), ("", false),
        (#","require_pushed_authorization_requests":false"#, false),
        (#","require_pushed_authorization_requests":null"#, false),
    ])
    func `reads whether requests have to be pushed, and misses the place to push them to`(
        member: String,
        isRequired: Bool
    ) async throws {
        try await withServer { connection, request in
            connection.reply(200, metadata("http://\(request.fields["host"] ?? "")", member))
        } _: { scripted in
            let server = try await ServerDiscovery(cache: MetadataCache()).server(try issuer(scripted))
            #expect(server.requiresPushedRequests == isRequired && server.pushedAuthorizationURL == nil)
            let endpoint = try scripted.endpoint()
            guard isRequired else {
                _ = try await AuthorizationCodeLogin(at: server, with: endpoint, redirectURI: "app:/x")
                return
            }
            let error = await #expect(throws: LoginError.self) {
                try await AuthorizationCodeLogin(at: server, with: endpoint, redirectURI: "app:/x")
            }
            #expect(error?.description.contains("no pushed_authorization_request_endpoint") == true)
        }
    }

    @Test func `a server elsewhere cannot send a client to this machine`() throws {
        // Over https, which no test server speaks: the reader decides.
        let discovery = ServerDiscovery(cache: MetadataCache())
        let issuer = try #require(URL(string: "https://as.example"))
        for url in ["http://127.0.0.1:8080/t", "http://localhost/t", "http://as.example/t"] {
            let members = try #require(
                JSONMembers(of: Data(#"{"issuer":"https://as.example","token_endpoint":"\#(url)"}"#.utf8))
            )
            #expect(throws: LoginError.self) { try discovery.server(members, of: issuer) }
        }
    }

    @Test(arguments: [
        "http://as.example", "https://user@as.example", "https://as.example?a=b", "https://as.example#a", "file:///a",
        "https://as.example/.well-known/openid-configuration", "as.example", "http://127.0.0.1.evil.example",
    ])
    func `asks no issuer that cannot be trusted or is none`(issuer: String) async throws {
        let url = try #require(URL(string: issuer))
        let error = await error { try await AuthorizationServer.discover(url) }
        #expect(error?.isConfigurationMistake == true)
    }

    @Test func `tells what was wrong at the place that said most`() async throws {
        #expect(try await error(of: 404) { _ in "" }?.description.contains("no metadata for this issuer") == true)
        #expect(try await error { _ in "<html>" }?.description.contains("not a JSON object") == true)
        #expect(try await error(of: 503) { _ in "" }?.isTransient == true)
        let dates = ["Date": "Wed, 14 Oct 2026 17:46:40 GMT", "Retry-After": "Wed, 14 Oct 2026 17:47:10 GMT"]
        #expect(try await error(of: 503, fields: dates) { _ in "" }?.description.contains("after 30.0 s") == true)
        #expect(try await error(of: 302, fields: ["Location": "http://127.0.0.1:1/"]) { _ in "" }?.isTransient == false)
        let long = try await error { host in metadata(host, #","a":"\#(String(repeating: "a", count: 1 << 20))""#) }
        #expect(long?.logCode == "body_too_long")
        let nobody = await error { try await AuthorizationServer.discover(try Nobody.url) }
        #expect(nobody?.isTransient == true)
        #expect(nobody?.description.contains("No login: ") == true)
        #expect(nobody?.description.contains("token") == false)
        #expect(nobody?.description.contains("nothing was sent") == false)
    }

    @Test func `a server that is silent is left after its time, and at once when nobody waits`() async throws {
        let (isOver, clock) = (Gate(), ManualClock())
        try await withServer { connection, _ in
            isOver.pass()
        } _: { server in
            defer {
                isOver.open()
                isOver.open()
            }
            let issuer = try issuer(server)
            let discovery = ServerDiscovery(clock: clock, cache: MetadataCache())
            let slow = Task { try await discovery.server(issuer) }
            await yieldUntil { server.requests.count == 1 && clock.pendingTimers == 1 }
            clock.advance(by: 15)
            await #expect(throws: LoginError.self) { try await slow.valueInTime }
            let cancelled = Task { try await discovery.server(issuer) }
            await yieldUntil { server.requests.count == 2 && clock.pendingTimers == 1 }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.valueInTime }
        }
    }

    @Test(
        arguments: [
            (["Cache-Control": "max-age=60"], 59.0, 1), (["Cache-Control": "max-age=60"], 60, 2),
            (["Cache-Control": "public, MAX-AGE=60", "Age": "50"], 9, 1),
            (["Cache-Control": "public, max-age=60", "Age": "50"], 10, 2),
            (["Cache-Control": "no-store, max-age=60"], 1, 2),
            (["Cache-Control": "no-cache"], 1, 2), (["Cache-Control": "max-age=-5"], 1, 2), ([:], 1, 2),
            (["Cache-Control": "max-age=99999999999999999999"], 86_399, 1),
            (["Cache-Control": "max-age=99999999999999999999"], 86_400, 2), (["Expires": "0"], 1, 2),
            (["Expires": "60"], 1, 2),
            (["Expires": "Fri, 15 Jan 2027 08:01:00 GMT"], 59, 1),
            (["Expires": "Fri, 15 Jan 2027 08:01:00 GMT"], 61, 2),
            // A server whose clock is another one.
            (["Date": "Fri, 15 Jan 2027 06:00:00 GMT", "Expires": "Fri, 15 Jan 2027 06:01:00 GMT"], 59, 1),
        ] as [([String: String], TimeInterval, Int)]
    )
    func `is kept for as long as the reply allows`(fields: [String: String], wait: TimeInterval, count: Int)
        async throws
    {
        try await withServer { connection, request in
            connection.reply(200, metadata("http://\(request.fields["host"] ?? "")"), fields: fields)
        } _: { server in
            let clock = ManualClock()
            let discovery = ServerDiscovery(clock: clock, cache: MetadataCache())
            let issuer = try issuer(server)
            let first = try await discovery.server(issuer)
            clock.advance(by: wait)
            #expect(try await discovery.server(issuer) == first)
            #expect(server.requests.count == count)
            if count == 1 {
                clock.setWallClock(to: Date(timeIntervalSince1970: 0))
                #expect(try await discovery.server(issuer) == first)
                #expect(server.requests.count == 2)
            }
        }
    }

    @Test func `of many issuers, memory stays bounded`() {
        let cache = MetadataCache()
        let now = Date(timeIntervalSince1970: 0)
        let key = { (number: Int) in MetadataCache.Key(issuer: "\(number)", allowsInsecureHTTP: false) }
        for number in 0..<1000 {
            cache.keep(AuthorizationServer(tokenURL: nil), as: key(number), until: now.addingTimeInterval(10), at: now)
        }
        let kept = (0..<1000).filter { cache.server(key($0), at: now) != nil }
        #expect(kept.count == 64)
    }
}
