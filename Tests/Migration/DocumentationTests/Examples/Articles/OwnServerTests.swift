import AccessTokenOAuth
import Foundation
import Testing

extension KnownServer {
    // {"result":{"access_token":"…","refresh_token":"…"},"code":0}, or {"result":null,"code":4711}
    static let acme = KnownServer(
        "Acme",
        tokensIn: "result",
        tokenTypes: ["AcmeToken"],
        rules: [
            .when("code", is: "4711", means: .sessionEnded, source: "acme.example/errors"),
            .when("code", is: "4712", "4713", means: .later, source: "acme.example/errors"),
        ]
    )
}

@Suite("A server of one's own")
struct OwnServerTests {
    @Test func `is a value of ten lines`() throws {
        let tokenURL = try #require(URL(string: "https://acme.example/token"))
        var endpoint = TokenEndpoint(tokenURL, authentication: .none(clientID: "app"))
        endpoint.server = .acme
        let reply = TokenEndpointReply(status: 200, body: Data(#"{"result":null,"code":4711}"#.utf8))
        #expect { try endpoint.response(from: reply) } throws: { ($0 as? OAuthError)?.requiresSignIn == true }

        let limit = TokenEndpointReply(status: 200, body: Data(#"{"result":null,"code":4713}"#.utf8))
        #expect { try endpoint.response(from: limit) } throws: { ($0 as? OAuthError)?.isTransient == true }
        let tokens = #"{"result":{"access_token":"A","refresh_token":"R","token_type":"x"},"code":0}"#
        let success = TokenEndpointReply(status: 200, body: Data(tokens.utf8))
        #expect(try endpoint.response(from: success).refreshToken == "R")
    }
}
