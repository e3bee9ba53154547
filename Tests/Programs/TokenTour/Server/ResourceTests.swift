import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import TokenTour

@Suite("The resource requires a valid access token", .eightAtATime, .timeLimit(.minutes(10)))
struct ResourceTests {
    private func request(_ authorization: String?) -> String {
        "GET /resource HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            + (authorization.map { "Authorization: \($0)\r\n" } ?? "") + "\r\n"
    }

    @Test("An expired token is answered with 401 and the challenge invalid_token")
    func expired() async throws {
        try await withServer { server in
            let pair = server.signIn()
            #expect(try await server.status(for: pair.accessToken) == 200)
            server.expireAccessTokens()
            let answer = try server.answer(to: request("Bearer \(pair.accessToken)"))
            #expect(answer.hasPrefix("HTTP/1.1 401 Unauthorized\r\n"))
            #expect(answer.contains("\r\nWWW-Authenticate: Bearer error=\"invalid_token\""))
            #expect(!answer.contains(pair.accessToken))
        }
    }

    @Test("Expiry does not spend the refresh token: the next pair is good")
    func renewed() async throws {
        try await withServer { server in
            let pair = server.signIn()
            server.expireAccessTokens()
            let renewed = try await server.exchange(pair.refreshToken).reply
            #expect(try await server.status(for: try #require(renewed.access_token)) == 200)
            #expect(try await server.status(for: pair.accessToken) == 401)
        }
    }

    @Test("A request without a token is answered with the scheme, without an error code")
    func missing() async throws {
        try await withServer { server in
            let answer = try server.answer(to: request(nil))
            #expect(answer.hasPrefix("HTTP/1.1 401 "))
            #expect(answer.contains("\r\nWWW-Authenticate: Bearer\r\n"))
        }
    }

    @Test("The scheme's case does not matter", arguments: ["Bearer", "bearer", "BEARER"])
    func scheme(_ scheme: String) async throws {
        try await withServer { server in
            let pair = server.signIn()
            let answer = try server.answer(to: request("\(scheme) \(pair.accessToken)"))
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
        }
    }
}
