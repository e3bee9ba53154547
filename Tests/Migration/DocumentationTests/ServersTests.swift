import AccessTokenOAuth
import Foundation
import Testing

@Suite("What the page of servers shows does what is said of it")
struct ServersTests {
    private typealias Setting = @Sendable (inout TokenEndpoint) -> Void

    private let received = Date(timeIntervalSince1970: 1_800_000_000)

    private func endpoint() throws -> TokenEndpoint {
        TokenEndpoint(try #require(URL(string: "https://auth.example/token")), authentication: .none(clientID: "app"))
    }

    private func reply(_ status: Int, _ body: String, _ headers: [String: String] = [:]) -> TokenEndpointReply {
        TokenEndpointReply(status: status, headers: headers, body: Data(body.utf8), received: received)
    }

    @Test(
        arguments: [
            (.atlassian, 403, #"{"error":"unauthorized_client","error_description":"refresh_token is invalid"}"#),
            (.firebase, 400, #"{"error":{"code":400,"message":"TOKEN_EXPIRED","status":"INVALID_ARGUMENT"}}"#),
            (.fitbit, 400, #"{"errors":[{"errorType":"invalid_grant","message":"Refresh token invalid"}]}"#),
            (.hubSpot, 400, #"{"status":"BAD_REFRESH_TOKEN","message":"missing or unknown refresh token"}"#),
            (
                .strava, 400,
                #"{"message":"Bad Request","errors":[{"resource":"RefreshToken","field":"refresh_token","code":"invalid"}]}"#
            ),
            (.twitch, 400, #"{"status":400,"message":"Invalid refresh token"}"#),
            (.withings, 200, #"{"status":503,"body":{},"error":"Invalid Params: invalid refresh_token"}"#),
            (.zoho, 200, #"{"error":"invalid_code"}"#),
        ] as [(KnownServer, Int, String)]
    )
    func `a known server's word for a dead refresh token asks for a login, and its other words do not`(
        server: KnownServer,
        status: Int,
        body: String
    ) {
        let dead = reply(status, body)
        #expect(server.failure(dead)?.requiresSignIn == true)
        #expect(KnownServer.allCases.filter { $0.failure(dead) != nil } == [server])
        for other in [
            "", "{}", "[]", "<html>", #"{"error":"invalid_client"}"#, #"{"error":{"code":1}}"#,
            #"{"message":"Bad Request","errors":[{"resource":"Application","field":"client_id","code":"invalid"}]}"#,
            #"{"errors":[{"errorType":"invalid_client"}]}"#, #"{"status":"BAD_CLIENT_ID"}"#,
            #"{"error":"unauthorized_client","error_description":"the client may not refresh"}"#,
        ] {
            #expect(server.failure(reply(status, other)) == nil, "\(other)")
        }
    }

    @Test(
        arguments: [
            (
                Servers.tokensUnderBody,
                #"{"status":0,"body":{"access_token":"A","refresh_token":"R","expires_in":60}}"#, 60
            ),
            (Servers.otherNames, #"{"token":"A","renewal":"R","expires_in":"60"}"#, 60),
            (Servers.zeroIsForEver, #"{"access_token":"A","refresh_token":"R","expires_in":0}"#, nil),
            (Servers.zeroIsForEver, #"{"access_token":"A","refresh_token":"R","expires_in":60}"#, 60),
            (Servers.expiresOn, #"{"access_token":"A","refresh_token":"R","expires_on":"1800000060"}"#, 60),
        ] as [(Setting, String, TimeInterval?)]
    )
    private func `a mapping finds the tokens, and decides how long they live`(
        setting: Setting,
        body: String,
        lifetime: TimeInterval?
    ) throws {
        var endpoint = try endpoint()
        setting(&endpoint)
        let response = endpoint.replyMapping?(reply(200, body))
        #expect(response?.accessToken == AccessToken(value: "A", expiration: lifetime.map { received + $0 }))
        #expect(response?.refreshToken == "R")
        #expect(endpoint.replyMapping?(reply(200, "{}")) == nil)
    }

    @Test func `a limit that is told by a 403 is waited for`() throws {
        var endpoint = try endpoint()
        Servers.limitOf403(&endpoint)
        let limit = endpoint.failureMapping?(reply(403, #"{"message":"secondary rate limit"}"#, ["retry-after": "60"]))
        #expect(limit?.isTransient == true && limit?.retryAfter == 60)
        #expect(endpoint.failureMapping?(reply(403, "{}")) == nil)
    }
}
