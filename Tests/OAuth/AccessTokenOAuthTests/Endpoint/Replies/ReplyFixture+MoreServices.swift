@testable import AccessTokenOAuth

/// Thirty replies that were looked up after the rules had been written; each is in the shape that its source shows.
extension ReplyFixture {
    static let more: [(ReplyFixture, Outcome)] = moreEnded.map { ($0, .ended) } + moreOthers

    private static let moreEnded: [ReplyFixture] = [
        // devtalk.kakao.com/t/126899
        ReplyFixture(
            "Kakao",
            400,
            #"{"error":"invalid_grant","error_description":"expired_or_invalid_refresh_token","error_code":"KOE322"}"#
        ),
        // exabird/ha-tado-x#30
        ReplyFixture(
            "tado",
            400,
            #"{"error":"invalid_grant","error_description":"The refresh_token is invalid.","error_reason":"refresh_token_not_found"}"#
        ),
        // mercadopago/sdk-ruby#38
        ReplyFixture(
            "Mercado Libre",
            400,
            #"{"message":"Error validating grant. Your authorization code or refresh token may be expired or it was already used.","error":"invalid_grant","status":400,"cause":[]}"#
        ),
        // square/connect-ruby-sdk#73
        ReplyFixture("Square", 400, #"{"message":"cannot renew revoked token","type":"bad_request"}"#),
        // soundcloud/api#359
        ReplyFixture("SoundCloud", 400, #"{"error":"invalid_grant"}"#),
        // openai/codex, and the programs that read its replies
        ReplyFixture(
            "OpenAI",
            401,
            #"{"error":{"message":"Your refresh token has already been used to generate a new access token. Please try signing in again.","type":"invalid_request_error","param":null,"code":"refresh_token_reused"}}"#
        ),
        ReplyFixture("OpenAI, ended", 401, #"{"error":{"message":"x","code":"refresh_token_invalidated"}}"#),
        ReplyFixture("OpenAI, expired", 400, #"{"error":{"code":"refresh_token_expired","message":"gone"}}"#),
        // databricks/cli, fixtures of its tests
        ReplyFixture(
            "Databricks",
            401,
            #"{"error":"invalid_refresh_token","error_description":"Refresh token is invalid"}"#
        ),
        // dev.mi.com, passport, error-code
        ReplyFixture("Xiaomi", 400, #"{"error":96009,"error_description":"refresh token invalid or expired"}"#),
        // docs.followupboss.com, oauth-error-codes
        ReplyFixture("Follow Up Boss", 404, #"{"error":"invalid_grant"}"#),
        ReplyFixture("Follow Up Boss, as it was", 401, #"{"error":"expired-refresh-token"}"#),
        // docs.oracle.com, NetSuite, OAuth 2.0
        ReplyFixture("NetSuite", 400, #"{"error":"invalid_grant"}"#),
        // docs.cloudbase.net, error-code
        ReplyFixture("CloudBase", 400, #"{"code":"REFRESH_TOKEN_EXPIRED","message":"refresh token 已过期或不存在"}"#),
        ReplyFixture("CloudBase, unknown", 400, #"{"code":"INVALID_REFRESH_TOKEN","message":""}"#),
        // planningcenter/developers#602
        ReplyFixture(
            "Planning Center",
            401,
            #"{"error":"invalid_grant","error_description":"The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client."}"#
        ),
        // amocrm/amocrm-api-php#123
        ReplyFixture(
            "amoCRM",
            401,
            #"{"hint":"Token has been revoked","title":"Некорректный запрос","type":"https://developers.amocrm.ru/v3/errors/OAuthProblemJson","status":401,"detail":"В запросе отсутствует ряд параметров или параметры невалидны"}"#,
            ["Content-Type": "application/problem+json"]
        ),
        // messense/aliyundrive-webdav#960
        ReplyFixture(
            "Aliyun Drive",
            401,
            #"{"code":"RefreshTokenExpired","message":"expired refresh_token","requestId":"r"}"#
        ),
        // logto-io/logto#7840
        ReplyFixture("Logto", 400, #"{"error":"invalid_grant","error_description":"grant request is invalid"}"#),
        // Nanocloud/nanocloud#59
        ReplyFixture("Nanocloud", 403, #"{"error":"invalid_grant","error_description":"Invalid refresh token"}"#),
    ]

    private static let moreOthers: [(ReplyFixture, Outcome)] = [
        // tylerebowers/Schwabdev#40
        (
            ReplyFixture(
                "Schwab",
                400,
                #"{"error":"unsupported_token_type","error_description":"400 Bad Request: \"{\\\"error_description\\\":\\\"Exception while authenticating refresh token [tokenDigest=x, Exception=Failed refresh token authentication [tokenDigest=x]]\\\",\\\"error\\\":\\\"refresh_token_authentication_error\\\"}\""}"#,
                server: .schwab
            ), .user
        ),
        // tylerebowers/Schwabdev#61: the page went away by itself
        (
            ReplyFixture(
                "Schwab's firewall",
                403,
                "<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>",
                ["Content-Type": "text/html"]
            ), .later
        ),
        // swiftyspiffy/twitch-token-generator#15
        (ReplyFixture("a page of Cloudflare", 403, "<!DOCTYPE html><html lang=\"en-US\"><title>…"), .later),
        // community.auth0.com/t/77440: a status of 500, and a limit that is not the one of the fields
        (
            ReplyFixture(
                "Auth0",
                500,
                #"{"error":"access_denied","error_description":"Global limit has been reached"}"#,
                ["X-RateLimit-Remaining": "29", "X-RateLimit-Reset": "1643756409"]
            ), .later
        ),
        (
            ReplyFixture(
                "Auth0, with another status",
                403,
                #"{"error":"access_denied","error_description":"Global limit has been reached"}"#
            ), .later
        ),
        // paypal/paypal-here-sdk-ios-distribution#349: it does not say why
        (
            ReplyFixture(
                "PayPal",
                400,
                #"{"error_description":"Unable to refresh access token","error":"invalid_request","correlation_id":"c","information_link":"https://developer.paypal.com/docs/api/#errors"}"#
            ), .mistake
        ),
        // nathom/streamrip#901
        (
            ReplyFixture(
                "TIDAL",
                401,
                #"{"status":401,"error":"invalid_client","sub_status":1005,"error_description":"Client id 1 not found"}"#
            ), .mistake
        ),
        // ibm.com, OAuth 2.0 Error Codes
        (ReplyFixture("IBM", 400, #"{"error":"mapping_error"}"#), .mistake),
        // xee-lab/xee-api-docs#82: the same word as for a wrong request
        (ReplyFixture("Xee", 400, #"{"error":"invalid_request"}"#), .mistake),
        // dev.mi.com: a reply begins with a mark, and a mapping has to remove it
        (
            ReplyFixture(
                "Xiaomi, a token",
                200,
                #"&&&START&&&{"access_token":"A1","refresh_token":"RT1","expires_in":7776000}"#
            ), .held
        ),
    ]
}
