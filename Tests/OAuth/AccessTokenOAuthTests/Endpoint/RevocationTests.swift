import AccessTokenOAuth
import Foundation
import TestSupport
import Testing

@Suite("Revocation", .eightAtATime, .timeLimit(.minutes(10)))
struct RevocationTests {
    @Test func `a token is sent with its kind and the client's proof`() async throws {
        try await withServer(replying: 200) { server in
            let endpoint = try server.endpoint(authentication: .basic(clientID: "app", secret: "s"))
            try await endpoint.revoke("R+T")
            try await endpoint.revoke("A", hint: "access_token")
            #expect(server.requests.map(\.line) == Array(repeating: "POST /revoke HTTP/1.1", count: 2))
            #expect(
                server.requests.map(\.body) == [
                    "token=R%2BT&token_type_hint=refresh_token", "token=A&token_type_hint=access_token",
                ]
            )
            #expect(server.requests.allSatisfy { $0.fields["authorization"] == "Basic YXBwOnM=" })
        }
    }

    @Test func `a refusal is an error without the token in it`() async throws {
        try await withServer(replying: 400, #"{"error":"unsupported_token_type","error_description":"of RT-secret"}"#) {
            server in
            let endpoint = try server.endpoint()
            await #expect(throws: OAuthError.refused("unsupported_token_type", explanation: "of <hidden>")) {
                try await endpoint.revoke("RT-secret")
            }
        }
    }

    @Test func `plain HTTP to another machine is used if that is allowed`() async throws {
        let url = try #require(URL(string: "http://no-such-host.invalid/revoke"))
        var endpoint = TokenEndpoint(url, authentication: .none(clientID: "app"), revocationURL: url)
        endpoint.allowsInsecureHTTP = true
        let errors = [
            await #expect(throws: OAuthError.self) { try await endpoint.exchange(.refreshToken("RT")) },
            await #expect(throws: OAuthError.self) { try await endpoint.revoke("RT") },
        ]
        #expect(errors.allSatisfy { $0?.isTransient == true })
    }

    @Test func `without a place to revoke nothing is sent`() async throws {
        try await withServer(replying: 200) { server in
            try await TokenEndpoint(try server.url, authentication: .none(clientID: "app")).revoke("RT")
            #expect(server.requests.isEmpty)
        }
    }
}
