import TestSupport
import Testing

@testable import LoopbackAuthorizationServer
@testable import OAuthFoundation

@Suite("The loopback server rotates refresh tokens", .takesTurns, .endsHangs)
struct RotationTests {
    @Test func `a refresh token brings a new pair, also when its access token has expired`() async throws {
        try await withRotatingServer { server throws in
            let first = server.signIn()
            #expect(try server.serves(first.accessToken))
            server.expireAccessTokens()
            #expect(try !server.serves(first.accessToken))
            let second = try server.exchange(first.refreshToken)
            #expect(second.token_type == "Bearer")
            #expect(second.expires_in == 3600)
            let (access, refresh) = (try #require(second.access_token), try #require(second.refresh_token))
            #expect(access != first.accessToken)
            #expect(refresh != first.refreshToken)
            #expect(try server.serves(access))
            #expect(try server.exchange(refresh).error == nil)
            #expect(server.tally.tokenRequests == 2)
            #expect(server.tally.reuses == 0)
        }
    }

    @Test func `reuse revokes the newest tokens of both kinds, and leaves other sessions alone`() async throws {
        try await withRotatingServer { server throws in
            let (first, other) = (server.signIn(), server.signIn())
            let second = try server.exchange(first.refreshToken)
            #expect(try server.exchange(first.refreshToken).error == "invalid_grant")
            #expect(server.isRevoked(family: first.refreshName.family))
            #expect(try !server.serves(try #require(second.access_token)))
            #expect(try server.exchange(try #require(second.refresh_token)).error == "invalid_grant")
            #expect(server.tally.reuses == 1)
            #expect(server.tally.revokedFamilies == 1)
            #expect(try server.serves(other.accessToken))
            #expect(try server.exchange(other.refreshToken).error == nil)
        }
    }

    @Test func `in a period of grace, a spent refresh token brings what it brought before`() async throws {
        try await withRotatingServer(grace: 3600) { server throws in
            let first = server.signIn()
            let second = try server.exchange(first.refreshToken)
            let third = try server.exchange(try #require(second.refresh_token))
            let again = try server.exchange(first.refreshToken)
            #expect(again.refresh_token == second.refresh_token)
            #expect(again.access_token == second.access_token)
            #expect(try server.serves(try #require(third.access_token)))
            #expect(server.tally.reuses == 0)
            #expect(server.tally.revokedFamilies == 0)
        }
    }

    @Test(
        arguments: [(.infinity, nil), (1e300, nil), (-1, "invalid_grant"), (.nan, "invalid_grant")]
            as [(Double, String?)]
    )
    func `a period of grace may have any length: without an end, or none at all`(seconds: Double, error: String?)
        async throws
    {
        try await withRotatingServer(grace: seconds) { server throws in
            let first = server.signIn()
            _ = try server.exchange(first.refreshToken)
            #expect(try server.exchange(first.refreshToken).error == error)
        }
    }

    @Test func `a token that the server never issued is refused, and revokes nothing`() async throws {
        try await withRotatingServer { server throws in
            let pair = server.signIn()
            for token in ["made-up", pair.accessToken] {
                #expect(try server.exchange(token).error == "invalid_grant")
            }
            #expect(try !server.serves(pair.refreshToken))
            #expect(try server.serves(pair.accessToken))
        }
    }

    /// RFC 7009, section 2.1, with the codes of RFC 6749, section 5.2.
    @Test(
        arguments: [
            ("client_id=shop&client_secret=right", nil), ("client_id=shop&client_secret=wrong", "invalid_client"),
            ("client_id=shop", "invalid_client"), ("client_id=nobody", "invalid_client"), ("x=y", "invalid_client"),
            ("client_id=other", "invalid_grant"),
        ] as [(String, String?)]
    )
    func `only the client that a token was issued to revokes the token`(client: String, error: String?) async throws {
        let clients: [AuthorizationServerClient] = [.confidential("shop", secret: "right"), .public("other")]
        let server = try RotatingAuthorizationServer(clients: clients)
        defer { server.stop() }
        func answer(_ token: String) throws -> String {
            try server.answer(toForm: "token=\(RotatingAuthorizationServer.encoded(token))&\(client)", at: "/revoke")
        }
        for keyPath in [\TokenPair.refreshToken, \.accessToken] {
            let pair = server.signIn(clientID: "shop")
            let answer = try answer(pair[keyPath: keyPath])
            #expect(answer.hasSuffix(error.map { #"{"error":"\#($0)"}"# } ?? "{}"))
            #expect(server.isRevoked(family: pair.refreshName.family) == (error == nil))
            #expect(try server.serves(pair.accessToken) == (error != nil))
        }
        let status = error == "invalid_client" ? 401 : 200
        #expect(try answer("made-up").hasPrefix("HTTP/1.1 \(status) "), "an unknown token counts as revoked")
    }

    @Test func `of many requests with one token at a time one is served, and the session is lost`() async throws {
        // Long enough for all of them to be there before the first one is answered.
        try await withRotatingServer(latency: 0.2) { server throws in
            let body = RotatingAuthorizationServer.form(server.signIn().refreshToken)
            let head = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)"
            let connections = try (0..<100).map { _ in try SocketDescriptor.connected(toPort: server.port) }
            for connection in connections { connection.send("POST /token HTTP/1.1\r\n\(head)\r\n\r\n\(body)") }
            let answers = connections.map { $0.finish() }
            #expect(answers.count { $0.hasPrefix("HTTP/1.1 200 ") } == 1)
            #expect(answers.count { $0.hasPrefix("HTTP/1.1 400 ") } == 99)
            #expect(server.tally.reuses == 99)
            #expect(server.tally.revokedFamilies == 1)
        }
    }
}
