import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("Sentences by which servers explain why there is no token")
struct ReplySentenceTests {
    @Test(
        arguments: [
            "refresh token is not valid", "The refresh_token is invalid", "Invalid Refresh Token: Already Used",
            "missing or invalid refresh token", "Refresh Token Not Found", "refresh_token expired",
            "expired access/refresh token", "The refresh token has been revoked by the user.", "No such refresh token",
            "Not a valid refresh token", "The provided refresh token is no longer valid", "RefreshTokenExpired",
            "ERR_REFRESH_TOKEN_REVOKED", "auth/invalid-refresh-token", "Refresh token does not exist",
            "Refresh token doesn't exist", "refresh token has been used", "Old refresh token used",
            "Value passed for the token was invalid.", "Token has been expired or revoked.", "Token is not active",
            "invalid token", "Session has expired", "session not found", "User session is not active",
            "The provided value for the input parameter 'refresh_token' is not valid.",
            "cannot renew revoked token", "Token has been revoked", "Unknown or invalid refresh token.",
            "The refresh token passed is incorrect or expired.",
            "AADSTS700082: The refresh token has expired due to inactivity.", "Refresh token reuse detected",
            "Refresh token not found in the database", "Refresh token not found or expired", "No session found",
            "Invalid or missing refresh token", "The refresh token is not a valid token",
            "Refresh token expired. Request a new one.", "The refresh token you sent has already been used",
            "The refresh token could not be found", "Invalid refresh token: jwt expired", "refresh token mismatch",
            "Error 401: Refresh token was revoked on 2026-01-02", "Refresh token is invalid, expired or revoked",
            "Invalid, expired or revoked refresh token",
        ]
    )
    func `of a dead refresh token are recognised`(text: String) {
        #expect(ReplySentence(text).saysThatSessionEnded)
        #expect(!ReplySentence(text).saysLater)
    }

    /// Each would sign the user out.
    @Test(
        arguments: [
            "", "refresh token", "Missing required parameter: refresh_token", "refresh_token is required",
            "Unsupported grant type: refresh_token", "The refresh_token grant is invalid for this client",
            "grant_type refresh_token is not allowed", "Invalid client", "Invalid client or secret",
            "The access token is expired", "invalid access token", "The id token is invalid",
            "Client assertion token expired", "Invalid token type", "The token endpoint is invalid",
            "Invalid request: no refresh token was sent", "The refresh token has not been used", "invalid scope",
            "Refresh token is valid", "not an expired refresh token", "no invalid refresh token",
            "refresh token is not expired", "refresh token can be used once",
            "The refresh token request is invalid", "A refresh token must be provided", "bad request",
            "Invalid redirect_uri", "CSRF token invalid", "the mfa token has expired", "Too many sessions",
            // Of a server that wants JSON or a cookie, or whose reader of the body is broken.
            "Refresh token not found in request", "The refresh_token was not found in the request body",
            "Refresh token not found in cookies or request body.", "Refresh token cookie not found",
            "Session not found in the request header", "No refresh token found",
            "No refresh token was found in the request", "no refreshToken exists in the body",
            "Refresh token not found on the request", "refresh token doesn't exist within the http only cookie",
            "Missing refresh token. Invalid request.", "Refresh token is null or invalid",
            // Of one that says how the parameter is to be written.
            "refresh_token: expected string, found invalid value", "Invalid refresh_token: must be a string",
            "refresh_token: Invalid input: expected string, received undefined", "refresh_token is not a valid UUID",
            "refresh_token Not a valid string.", "refresh_token is invalid: must not be empty",
            "refresh_token is an invalid JWT", "Refresh token not active yet", "refresh_token: unknown field",
            "refresh_token: invalid_type", "refresh_token: invalid_format", "refresh_token: invalid_length",
            "Unknown value for field refresh_token", "Cannot query field \"refreshToken\" on type \"Mutation\".",
            // Of one that has no such endpoint, or not now.
            "Route POST:/auth/refresh-token not found", "The route auth/refresh-token could not be found.",
            "The requested URL /oauth/refresh_token was not found on this server.", "/refresh-token not found",
            "Requested path /oauth2/refreshToken does not exist", "Method refreshToken not found",
            "Function 'refresh-token' is inactive", "Requested function was not found: refresh-token",
            "unknown method RefreshToken for service auth.v1.Auth", "rpc RefreshToken is unknown",
            "upstream service refresh-token-service is inactive", "Unknown operation refreshToken",
            "The lambda function refresh_token could not be found", "ENOENT: function refresh-token removed",
            "Client authentication failed: token expired", "Signature mismatch. Token expired.",
            "A refresh token can be revoked",
            // Of one that failed to refresh a token.
            "Failed to refresh token: invalid client secret", "Unable to refresh token: unknown client",
            "failed to refresh token: context canceled", "Could not refresh token: database connection terminated",
            "Failed to refresh token: certificate expired", "Cannot refresh token: wrong client credentials",
            "Failed to refresh token, invalid signature", "Refresh token: invalid scope requested",
            "Refresh token lifetime is invalid", "Refresh token rotation is deactivated",
            "Cannot use refresh token: application is inactive", "The refresh token client_id mismatch",
            "Refresh token request rejected: invalid client", "User session limit reached, oldest session removed",
        ]
    )
    func `about something else end no session`(text: String) {
        #expect(!ReplySentence(text).saysThatSessionEnded)
    }

    @Test(
        arguments: [
            "token request is already being processed", "Too many concurrent token refresh requests",
            "Rate limit exceeded: access_token not expired", "An unexpected server error occurred. Please retry.",
            "You have made too many requests continuously. Please try again after some time.",
            "API rate limit exceeded", "login rate exceeded", "Service temporarily unavailable", "ThrottlingException",
            "An unknown error occurred", "Global limit has been reached", "Another request is in progress",
            "System busy",
        ]
    )
    func `of a server that cannot answer now ask to come again`(text: String) {
        #expect(ReplySentence(text).saysLater || ReplyWord.known(text, for: .renewal)?.meaning == .later)
        #expect(!ReplySentence(text).saysThatSessionEnded)
    }

    private func meaning(_ body: String, _ status: Int = 400, _ grant: GrantKind = .renewal) -> ReplyMeaning? {
        let reply = TokenEndpointReply(status: status, body: Data(body.utf8))
        return ReplyVerdict.of(reply, ReplyTexts(of: reply), for: grant)?.meaning
    }

    /// What asks to come again is safe to take so: the user stays signed in.
    @Test(
        arguments: [
            (#"{"error":"invalid_request","error_description":"Rate limit: the refresh token is invalid"}"#, .later),
            (#"{"error":"invalid_grant","error_description":"rate limit exceeded"}"#, .later),
            // Unless the word and the sentence say the same.
            (
                #"{"error":"invalid_grant","error_description":"Refresh token expired. Try again later."}"#,
                .sessionEnded
            ),
            (#"{"error":"invalid_grant","is_transient":true}"#, .later),
            (#"{"error":"invalid_client","error_description":"The refresh token is invalid"}"#, .mistake),
            (#"{"error":"invalid_client","cause":{"error":"invalid_grant"}}"#, .mistake),
            (#"{"error":"invalid_grant","suberror":"bad_token"}"#, .sessionEnded),
            (#"{"error":"invalid_grant","suberror":""}"#, .sessionEnded),
            (#"{"error":"invalid_grant","suberror":null}"#, .sessionEnded),
            (#"{"error":"invalid_grant","suberror":"new_one"}"#, .needsUser),
            (#"{"error":"invalid_grant","error_subtype":"invalid_rapt"}"#, .needsUser),
            (#"{"errors":[{"field":"id","code":"invalid"},{"field":"refresh_token","code":"required"}]}"#, .mistake),
            (#"{"errors":[{"field":"scope","code":"new"},{"field":"refresh_token","code":"invalid"}]}"#, .sessionEnded),
            (#"{"errors":{"refresh_token":["The refresh token is invalid."]}}"#, .sessionEnded),
            (#"{"error":"expired_token"}"#, .sessionEnded), (#"{"error":"access_denied"}"#, .mistake),
            (#"{"error":"login_required","error_description":"The refresh_token is invalid"}"#, .needsUser),
        ] as [(String, ReplyMeaning?)]
    )
    func `weigh less than words, and what is later weighs most`(body: String, expected: ReplyMeaning?) {
        #expect(meaning(body) == expected)
    }

    @Test func `of a refresh token mean nothing to another grant`() {
        #expect(
            meaning(#"{"error":"invalid_request","error_description":"the token is expired"}"#, 400, .other) == .mistake
        )
        #expect(meaning(#"{"error":"expired_token"}"#, 400, .device) == .codeExpired)
        #expect(meaning(#"{"error":"access_denied"}"#, 400, .device) == .denied)
        #expect(meaning(#"{"error":"invalid_token"}"#, 400, .other) == .mistake)
    }

    /// Microsoft says so of a client whose secret has expired.
    @Test func `of a device mean nothing beside a word that blames the client or the request`() {
        let sentence = #""error_description":"The provided client secret keys for app 'x' are expired.""#
        for word in ["invalid_client", "unsupported_grant_type", "invalid_scope", "invalid_target"] {
            #expect(meaning(#"{"error":"\#(word)",\#(sentence)}"#, 401, .device) == .mistake)
        }
        #expect(meaning("{\(sentence)}", 400, .device) == .codeExpired)
    }

    @Test func `have no place in a reply that only repeats the request`() {
        #expect(
            meaning(#"{"error":"invalid_client","request":{"grant_type":"refresh_token","refresh_token":"x"}}"#)
                == .mistake
        )
        #expect(meaning(#"{"echo":"login_required"}"#) == nil)
    }
}
