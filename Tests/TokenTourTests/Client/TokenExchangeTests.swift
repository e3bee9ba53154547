import AccessTokenAsync
import AccessTokenGCD
import Foundation
import Testing

@testable import LoopbackAuthorizationServer
@testable import token_tour

@Suite("The tour's loader keeps what the server rotates")
struct TokenExchangeTests {
    private func signedIn(to server: RotatingAuthorizationServer) -> (TokenExchange, TokenPair) {
        let exchange = TokenExchange(
            tokenEndpoint: server.tokenEndpoint,
            clientID: RotatingAuthorizationServer.clientID
        )
        let pair = server.signIn()
        exchange.signIn(refreshToken: pair.refreshToken)
        return (exchange, pair)
    }

    @Test("Load after load each sends the refresh token that the one before brought")
    func rotation() async throws {
        try await withServer { server in
            let (exchange, _) = signedIn(to: server)
            var old: AccessToken?
            for _ in 0..<3 {
                let token = try await exchange.load(replacing: old)
                #expect(token != old)
                #expect(try await server.status(for: token.value) == 200)
                #expect(try #require(token.expiration).timeIntervalSinceNow > 3000)
                old = token
            }
            #expect(server.tally.tokenRequests == 3)
            #expect(server.tally.reuses == 0)
        }
    }

    @Test("A refused refresh token is never sent again")
    func refusal() async throws {
        try await withServer { server in
            let (exchange, pair) = signedIn(to: server)
            _ = try await server.exchange(pair.refreshToken)
            await #expect(throws: TokenEndpointError.refused("invalid_grant")) {
                try await exchange.load(replacing: nil)
            }
            await #expect(throws: AccessTokenError.signedOut) {
                try await exchange.load(replacing: nil)
            }
            #expect(server.tally.tokenRequests == 2)
        }
    }

    @Test("A reply that comes after the sign-out leaves no refresh token behind")
    func lateReply() async throws {
        let held = HeldAnswer()
        try await withServer(onEvent: held.observe) { server in
            let (exchange, _) = signedIn(to: server)
            async let late = exchange.load(replacing: nil)
            await held.requestHasArrived()
            await exchange.signOut()
            held.release()
            _ = try await late
            await #expect(throws: AccessTokenError.signedOut) {
                try await exchange.load(replacing: nil)
            }
            #expect(server.tally.tokenRequests == 1)
        }
    }

    @Test("Forms are encoded so that every token arrives as it was")
    func formEncoding() {
        let body = FormBody.encoded(["a": " %&+£€", "b": "-._~"])
        #expect(String(decoding: body, as: UTF8.self) == "a=+%25%26%2B%C2%A3%E2%82%AC&b=-._~")
        #expect(FormFields(Array(body))?["a"] == " %&+£€")
    }

    @Test(
        "Servers say the lifetime in many ways",
        arguments: [
            ("3600", 3600), (#""3600""#, 3600), ("-1", 0), ("1e300", 31_536_000), ("null", nil),
            (#""soon""#, nil), (#""nan""#, nil), ("{}", nil), ("true", nil),
        ] as [(String, TimeInterval?)]
    )
    func lifetime(_ json: String, _ expected: TimeInterval?) throws {
        let text = #"{"access_token":"a","token_type":"bearer","expires_in":\#(json),"more":[]}"#
        let reply = try JSONDecoder().decode(TokenReply.self, from: Data(text.utf8))
        #expect(reply.lifetime == expected)
        #expect(reply.bearerToken == "a")
    }

    @Test(
        "No header can carry these, and no caller gets them",
        arguments: [#""a\r\nb""#, #""a b""#, #""ä""#, #""""#, "null", "1"]
    )
    func badToken(_ json: String) throws {
        let text = #"{"access_token":\#(json),"token_type":"Bearer","refresh_token":"r"}"#
        let reply = try JSONDecoder().decode(TokenReply.self, from: Data(text.utf8))
        #expect(reply.bearerToken == nil)
        #expect(reply.refreshToken == "r")
    }
}
