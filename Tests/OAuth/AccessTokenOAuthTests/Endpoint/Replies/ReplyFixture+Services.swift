@testable import AccessTokenOAuth

/// Replies with own values, in the shapes that services document or that people have reported.
extension ReplyFixture {
    static let tokens: [ReplyFixture] = [
        ReplyFixture(
            "Allegro",
            200,
            #"{"access_token":"A1","token_type":"bearer","refresh_token":"RT1","expires_in":43199,"scope":"allegro:api","allegro_api":true,"jti":"j"}"#
        ),
        ReplyFixture(
            "Amazon LWA",
            200,
            #"{"access_token":"A1","refresh_token":"RT1","token_type":"bearer","expires_in":3600}"#
        ),
        ReplyFixture(
            "Auth0",
            200,
            #"{"access_token":"A1","refresh_token":"RT1","id_token":"e30.e30.x","scope":"openid offline_access","expires_in":86400,"token_type":"Bearer"}"#
        ),
        ReplyFixture(
            "AWS SSO OIDC",
            200,
            #"{"accessToken":"A1","expiresIn":3600,"idToken":null,"refreshToken":"RT1","tokenType":"Bearer"}"#
        ),
        ReplyFixture(
            "Bitbucket",
            200,
            #"{"scopes":"repository","access_token":"A1","expires_in":7200,"token_type":"bearer","state":"refresh_token","refresh_token":"RT1"}"#
        ),
        ReplyFixture(
            "Box",
            200,
            #"{"access_token":"A1","expires_in":4169,"restricted_to":[],"refresh_token":"RT1","token_type":"bearer"}"#
        ),
        ReplyFixture(
            "Douyin",
            200,
            #"{"data":{"access_token":"A1","description":"","error_code":0,"expires_in":1296000,"open_id":"o","refresh_expires_in":2592000,"refresh_token":"RT1","scope":"user_info"},"message":"success"}"#,
            server: .douyin
        ),
        ReplyFixture(
            "Etsy",
            200,
            #"{"access_token":"A1","token_type":"Bearer","expires_in":3600,"refresh_token":"RT1"}"#
        ),
        ReplyFixture(
            "Feishu",
            200,
            #"{"code":0,"access_token":"A1","expires_in":7200,"refresh_token":"RT1","refresh_token_expires_in":604800,"token_type":"Bearer","scope":"offline_access"}"#
        ),
        ReplyFixture(
            "Firebase",
            200,
            #"{"access_token":"A1","expires_in":"3600","token_type":"Bearer","refresh_token":"RT1","id_token":"A1","user_id":"u","project_id":"1"}"#
        ),
        ReplyFixture(
            "Garmin",
            200,
            #"{"access_token":"A1","expires_in":86400,"token_type":"bearer","refresh_token":"RT1","scope":"P","jti":"j","refresh_token_expires_in":7775998}"#
        ),
        ReplyFixture(
            "GitHub",
            200,
            #"access_token=A1&expires_in=28800&refresh_token=RT1&refresh_token_expires_in=15811200&scope=&token_type=bearer"#,
            ["Content-Type": "application/x-www-form-urlencoded"]
        ),
        ReplyFixture(
            "GitLab",
            200,
            #"{"access_token":"A1","token_type":"bearer","expires_in":7200,"refresh_token":"RT1","scope":"api","created_at":1792000000}"#
        ),
        ReplyFixture(
            "HubSpot",
            200,
            #"{"token_type":"bearer","refresh_token":"RT1","access_token":"A1","expires_in":1800}"#
        ),
        ReplyFixture(
            "Linear",
            200,
            #"{"access_token":"A1","token_type":"Bearer","expires_in":86399,"refresh_token":"RT1","scope":"read write"}"#
        ),
        ReplyFixture(
            "LinkedIn",
            200,
            #"{"access_token":"A1","expires_in":5184000,"refresh_token":"RT1","refresh_token_expires_in":31536000,"scope":"r_basicprofile","token_type":"Bearer"}"#
        ),
        ReplyFixture(
            "Microsoft v2",
            200,
            #"{"token_type":"Bearer","scope":"User.Read","expires_in":3736,"ext_expires_in":3736,"refresh_in":1868,"access_token":"A1","refresh_token":"RT1","id_token":"e30.e30.x","client_info":"e30"}"#
        ),
        ReplyFixture(
            "Netatmo",
            200,
            #"{"scope":["read_station"],"access_token":"A1","refresh_token":"RT1","expires_in":10800,"expire_in":10800}"#
        ),
        ReplyFixture(
            "Okta",
            200,
            #"{"token_type":"Bearer","expires_in":3600,"access_token":"A1","scope":"offline_access openid","refresh_token":"RT1","id_token":"e30.e30.x"}"#
        ),
        ReplyFixture(
            "QuickBooks",
            200,
            #"{"token_type":"bearer","expires_in":3600,"refresh_token":"RT1","x_refresh_token_expires_in":8726400,"access_token":"A1"}"#
        ),
        ReplyFixture(
            "Shopify",
            200,
            #"{"access_token":"A1","scope":"write_orders","expires_in":3600,"refresh_token":"RT1","refresh_token_expires_in":7776000}"#
        ),
        ReplyFixture(
            "Slack",
            200,
            #"{"ok":true,"access_token":"A1","refresh_token":"RT1","expires_in":43200,"token_type":"bot","scope":"chat:write","bot_user_id":"U","app_id":"A","team":{"id":"T","name":"n"},"enterprise":null,"is_enterprise_install":false}"#,
            server: .slack
        ),
        ReplyFixture(
            "Strava",
            200,
            #"{"token_type":"Bearer","access_token":"A1","expires_at":1900000000,"expires_in":21600,"refresh_token":"RT1"}"#
        ),
        ReplyFixture(
            "Supabase",
            200,
            #"{"access_token":"A1","token_type":"bearer","expires_in":3600,"expires_at":1900000000,"refresh_token":"RT1","user":{"id":"u"}}"#
        ),
        ReplyFixture(
            "TikTok",
            200,
            #"{"access_token":"A1","expires_in":86400,"open_id":"o","refresh_expires_in":31536000,"refresh_token":"RT1","scope":"user.info.basic,video.list","token_type":"Bearer"}"#
        ),
        ReplyFixture(
            "Trakt",
            200,
            #"{"access_token":"A1","token_type":"bearer","expires_in":7776000,"refresh_token":"RT1","scope":"public","created_at":1792000000}"#
        ),
        ReplyFixture(
            "VK",
            200,
            #"{"refresh_token":"RT1","access_token":"A1","token_type":"Bearer","expires_in":3600,"user_id":1,"state":"s","scope":"email"}"#
        ),
        ReplyFixture(
            "WeChat",
            200,
            #"{"access_token":"A1","expires_in":7200,"refresh_token":"RT1","openid":"o","scope":"snsapi_base"}"#
        ),
        ReplyFixture(
            "X",
            200,
            #"{"token_type":"bearer","expires_in":7200,"access_token":"A1","scope":"offline.access tweet.read","refresh_token":"RT1"}"#
        ),
        ReplyFixture(
            "Xero",
            200,
            #"{"id_token":"e30.e30.x","access_token":"A1","expires_in":1800,"token_type":"Bearer","refresh_token":"RT1","scope":"offline_access"}"#
        ),
        ReplyFixture(
            "Zoom",
            200,
            #"{"access_token":"A1","token_type":"bearer","refresh_token":"RT1","expires_in":3599,"scope":"user:read","api_url":"https://api.zoom.us"}"#
        ),
        ReplyFixture(
            "Apple",
            200,
            #"{"access_token":"A1","token_type":"Bearer","expires_in":3600,"id_token":"e30.e30.x"}"#,
            refreshToken: "RT0"
        ),
        ReplyFixture(
            "AWS Cognito",
            200,
            #"{"id_token":"e30.e30.x","access_token":"A1","expires_in":3600,"token_type":"Bearer"}"#,
            refreshToken: "RT0"
        ),
        ReplyFixture(
            "eBay",
            200,
            #"{"access_token":"A1","expires_in":7200,"token_type":"User Access Token"}"#,
            refreshToken: "RT0",
            server: .eBay
        ),
        ReplyFixture(
            "Facebook",
            200,
            #"{"access_token":"A1","token_type":"bearer","expires_in":5183944}"#,
            refreshToken: "RT0"
        ),
        ReplyFixture(
            "Home Assistant",
            200,
            #"{"access_token":"A1","token_type":"Bearer","expires_in":1800}"#,
            refreshToken: "RT0"
        ),
        ReplyFixture(
            "Salesforce",
            200,
            #"{"access_token":"A1","signature":"s=","scope":"refresh_token api","instance_url":"https://i.example","id":"https://login.example/id/1","token_type":"Bearer","issued_at":"1792000000000"}"#,
            refreshToken: "RT0"
        ),
        ReplyFixture(
            "Zoho",
            200,
            #"{"access_token":"A1","api_domain":"https://www.zohoapis.com","token_type":"Bearer","expires_in":3600}"#,
            refreshToken: "RT0"
        ),
        ReplyFixture(
            "Notion",
            200,
            #"{"access_token":"A1","token_type":"bearer","refresh_token":"RT1","bot_id":"b","workspace_name":"w","owner":{"type":"user","user":{"object":"user","id":"u"}},"duplicated_template_id":null,"request_id":"r"}"#
        ),
        ReplyFixture(
            "Withings",
            200,
            #"{"status":0,"body":{"userid":"1","access_token":"A1","refresh_token":"RT1","expires_in":10800,"scope":"user.metrics","token_type":"Bearer"}}"#,
            server: .withings
        ),
        ReplyFixture(
            "Slack, a user's",
            200,
            #"{"ok":true,"access_token":"A1","refresh_token":"RT1","expires_in":43200,"token_type":"user"}"#,
            server: .slack
        ),
        ReplyFixture(
            "one that says that there was no error",
            200,
            #"{"error":"0","error_code":0,"success":true,"access_token":"A1","refresh_token":"RT1"}"#
        ),
        ReplyFixture(
            "an old form",
            200,
            "access_token=A1&expires=5183944",
            ["Content-Type": "text/plain"],
            refreshToken: "RT0"
        ),
    ]

    static let ended: [ReplyFixture] = [
        ReplyFixture(
            "Amazon LWA",
            400,
            #"{"error_description":"The request has an invalid grant parameter : refresh_token","error":"invalid_grant","request_id":"r"}"#
        ),
        ReplyFixture(
            "Apple",
            400,
            #"{"error":"invalid_grant","error_description":"The token has expired or has been revoked."}"#
        ),
        ReplyFixture(
            "Auth0",
            403,
            #"{"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}"#
        ),
        ReplyFixture("AWS Cognito", 400, #"{"error":"invalid_grant"}"#),
        ReplyFixture("Baidu", 400, #"{"error":"expired_token","error_description":"refresh token has been used"}"#),
        ReplyFixture("Box", 400, #"{"error":"invalid_grant","error_description":"Refresh token has expired"}"#),
        ReplyFixture(
            "Discord",
            400,
            #"{"error":"invalid_grant","error_description":"Invalid \"refresh_token\" in request."}"#
        ),
        ReplyFixture(
            "Douyin",
            200,
            #"{"data":{"description":"refresh_token expired","error_code":10010},"message":"error"}"#,
            server: .douyin
        ),
        ReplyFixture(
            "eBay",
            400,
            #"{"error":"invalid_grant","error_description":"the provided authorization refresh token is invalid or was issued to another client"}"#,
            server: .eBay
        ),
        ReplyFixture("Exact Online", 400, #"{"error":"invalid_grant","error_description":"Token is not allowed"}"#),
        ReplyFixture(
            "Feishu",
            400,
            #"{"code":20037,"error":"invalid_grant","error_description":"The refresh_token has expired."}"#
        ),
        ReplyFixture("Firebase", 400, #"{"error":{"code":400,"message":"TOKEN_EXPIRED","status":"INVALID_ARGUMENT"}}"#),
        ReplyFixture(
            "GitHub",
            200,
            #"{"error":"bad_refresh_token","error_description":"The refresh token passed is incorrect or expired.","error_uri":"https://docs.github.com"}"#
        ),
        ReplyFixture(
            "GitLab",
            400,
            #"{"error":"invalid_grant","error_description":"The provided authorization grant is invalid, expired, revoked"}"#
        ),
        ReplyFixture("Home Assistant", 400, #"{"error":"invalid_grant"}"#),
        ReplyFixture(
            "HubSpot",
            400,
            #"{"status":"BAD_REFRESH_TOKEN","message":"missing or invalid refresh token","correlationId":"c"}"#
        ),
        ReplyFixture(
            "Kimi",
            400,
            #"{"error":"invalid_grant","error_description":"The provided authorization grant is invalid"}"#
        ),
        ReplyFixture(
            "Microsoft v2",
            400,
            #"{"error":"invalid_grant","error_description":"AADSTS700082: The refresh token has expired due to inactivity.","error_codes":[700082],"timestamp":"2026-11-01 10:00:00Z","trace_id":"t","correlation_id":"c","suberror":"bad_token"}"#
        ),
        ReplyFixture(
            "Okta",
            400,
            #"{"error":"invalid_grant","error_description":"The refresh token is invalid or expired."}"#
        ),
        ReplyFixture("Oura", 400, #"{"error":"invalid_request","error_description":"invalid refresh token"}"#),
        ReplyFixture("Reddit", 400, #"{"message":"Bad Request","error":400}"#, server: .reddit),
        ReplyFixture(
            "Salesforce",
            400,
            #"{"error":"invalid_grant","error_description":"expired access/refresh token"}"#
        ),
        ReplyFixture("Slack", 200, #"{"ok":false,"error":"invalid_refresh_token"}"#),
        ReplyFixture("Spotify", 400, #"{"error":"invalid_grant","error_description":"Refresh token revoked"}"#),
        ReplyFixture(
            "Strava",
            400,
            #"{"message":"Bad Request","errors":[{"resource":"RefreshToken","field":"refresh_token","code":"invalid"}]}"#
        ),
        ReplyFixture(
            "Supabase",
            400,
            #"{"code":"refresh_token_not_found","message":"Invalid Refresh Token: Refresh Token Not Found"}"#
        ),
        ReplyFixture(
            "TikTok",
            200,
            #"{"error":"invalid_grant","error_description":"Refresh token is invalid or expired.","log_id":"l"}"#
        ),
        ReplyFixture("Trakt", 400, #"{"error":"invalid_grant","error_description":"session not found"}"#),
        ReplyFixture("WeChat", 200, #"{"errcode":42002,"errmsg":"refresh_token expired"}"#),
        ReplyFixture("Withings", 200, #"{"status":503,"body":{},"error":"Invalid Params: invalid refresh_token"}"#),
        ReplyFixture("Xero", 400, #"{"error":"invalid_grant"}"#),
        ReplyFixture("Zoho", 200, #"{"error":"invalid_code"}"#),
        ReplyFixture(
            "Atlassian",
            403,
            #"{"error":"unauthorized_client","error_description":"refresh_token is invalid"}"#
        ),
        ReplyFixture(
            "Fitbit",
            400,
            #"{"errors":[{"errorType":"invalid_grant","message":"Refresh token invalid: x"}],"success":false}"#
        ),
        ReplyFixture("Twitch", 400, #"{"status":400,"message":"Invalid refresh token"}"#),
        ReplyFixture(
            "DeviantArt",
            400,
            #"{"error":"invalid_request","error_description":"The refresh_token is invalid.","status":"error"}"#
        ),
        ReplyFixture(
            "X",
            400,
            #"{"error":"invalid_request","error_description":"Value passed for the token was invalid."}"#
        ),
        ReplyFixture(
            "Cloud Foundry UAA",
            401,
            #"{"error":"invalid_token","error_description":"The token expired, was revoked, or the token ID is incorrect: x"}"#
        ),
        ReplyFixture(
            "AWS IAM Identity Center",
            400,
            #"{"error":"expired_token","error_description":"x","__type":"ExpiredTokenException"}"#
        ),
        ReplyFixture(
            "AWS in other words",
            400,
            #"{"__type":"com.amazonaws.sso#InvalidGrantException","message":null,"code":"InvalidGrantException"}"#
        ),
        ReplyFixture(
            "Firebase",
            400,
            #"{"error":{"code":400,"message":"INVALID_REFRESH_TOKEN","status":"INVALID_ARGUMENT"}}"#
        ),
        ReplyFixture("Firebase, a user", 400, #"{"error":{"code":400,"message":"USER_DISABLED"}}"#, server: .firebase),
        ReplyFixture("Nextcloud", 400, #"{"error":"invalid_request"}"#, server: .nextcloud),
        ReplyFixture(
            "Supabase, used",
            400,
            #"{"code":400,"error_code":"refresh_token_already_used","msg":"Invalid Refresh Token: Already Used"}"#
        ),
        ReplyFixture(
            "Supabase, a session",
            400,
            #"{"code":"session_expired","message":"Invalid Refresh Token: Session Expired (Inactivity)"}"#
        ),
        ReplyFixture("Slack, revoked", 200, #"{"ok":false,"error":"token_revoked"}"#),
        ReplyFixture("WeChat, by its number", 200, #"{"errcode":40030,"errmsg":"x"}"#, server: .weChat),
        ReplyFixture(
            "Facebook",
            400,
            #"{"error":{"message":"Error validating access token: Session has expired","type":"OAuthException","code":190}}"#,
            server: .facebook
        ),
        ReplyFixture(
            "Pipedrive",
            400,
            #"{"success":"false","message":"Invalid grant: refresh token is invalid","error":"invalid_grant"}"#
        ),
        ReplyFixture(
            "Lazada",
            200,
            #"{"code":"IllegalRefreshToken","type":"ISP","message":"The specified refresh token is invalid or expired"}"#
        ),
        ReplyFixture(
            "a list of mistakes",
            422,
            #"{"errors":[{"field":"refresh_token","code":"invalid","message":"is invalid"}]}"#
        ),
        ReplyFixture("in camel case", 401, #"{"errorCode":"RefreshTokenExpired"}"#),
        ReplyFixture("a sentence alone", 400, "Refresh token has been revoked", ["Content-Type": "text/plain"]),
        ReplyFixture("a word in an object", 400, #"{"error":{"code":"invalid_grant"}}"#),
        ReplyFixture("not found", 404, #"{"message":"The refresh token could not be found."}"#),
        ReplyFixture("reused", 403, #"{"code":"ERR_AUTH","detail":"Refresh token reuse detected"}"#),
        ReplyFixture("Zoom", 400, #"{"reason":"Invalid Token!","error":"invalid_request"}"#),
        ReplyFixture(
            "Instagram",
            400,
            #"{"error":{"message":"The session has been invalidated because the user changed the password","type":"OAuthException","code":190}}"#
        ),
        ReplyFixture("Figma", 400, #"{"error":true,"status":400,"message":"Invalid refresh token"}"#),
        ReplyFixture(
            "ORY Hydra",
            401,
            #"{"error":"token_inactive","error_description":"Token is inactive because it is expired"}"#
        ),
        ReplyFixture(
            "Cognito's own API",
            400,
            #"{"__type":"NotAuthorizedException","message":"Refresh Token has expired"}"#
        ),
        ReplyFixture("ClickUp", 400, #"{"err":"Token invalid","ECODE":"OAUTH_025"}"#),
    ]

    static let user: [ReplyFixture] = [
        ReplyFixture(
            "Auth0",
            403,
            #"{"error":"mfa_required","error_description":"Multifactor authentication required","mfa_token":"m"}"#
        ),
        ReplyFixture(
            "Google",
            400,
            #"{"error":"invalid_grant","error_description":"reauth related error (invalid_rapt)","error_uri":"https://support.google.com/a/answer/9368756","error_subtype":"invalid_rapt"}"#
        ),
        ReplyFixture(
            "Microsoft v2",
            400,
            #"{"error":"invalid_grant","error_description":"AADSTS65001: The user or administrator has not consented to use the application","error_codes":[65001],"suberror":"consent_required"}"#
        ),
        ReplyFixture(
            "Microsoft v2",
            400,
            #"{"error":"interaction_required","error_description":"AADSTS50079","error_codes":[50079],"suberror":"basic_action"}"#
        ),
        ReplyFixture(
            "Tesla",
            401,
            #"{"error":"login_required","error_description":"The refresh_token is invalid","error_uri":"https://auth.tesla.com/login"}"#
        ),
        ReplyFixture(
            "Microsoft, a basic action",
            400,
            #"{"error":"invalid_grant","error_description":"AADSTS50076: Due to a configuration change you must use multi-factor authentication","error_codes":[50076],"suberror":"basic_action"}"#
        ),
        ReplyFixture(
            "Microsoft, a number",
            400,
            #"{"error":"invalid_grant","error_codes":[65001]}"#,
            server: .microsoft
        ),
        ReplyFixture("OpenID Connect", 400, #"{"error":"account_selection_required"}"#),
        ReplyFixture("RFC 9470", 401, #"{"error":"insufficient_user_authentication"}"#),
        ReplyFixture("a sentence", 403, #"{"error":"access_denied","error_description":"User consent is required"}"#),
        ReplyFixture("an invitation", 401, #"{"message":"Please log in again."}"#),
        ReplyFixture("in a success", 200, #"{"ok":false,"error":"mfa_required"}"#),
        ReplyFixture(
            "Microsoft, by its number alone",
            400,
            #"{"error":"invalid_grant","error_description":"AADSTS50076: Due to a configuration change","error_codes":[50076]}"#
        ),
        ReplyFixture("Plaid", 400, #"{"error_type":"ITEM_ERROR","error_code":"ITEM_LOGIN_REQUIRED"}"#),
    ]

    static let later: [ReplyFixture] = [
        ReplyFixture("Allegro", 429, #"{"error":"Too Many Requests","error_description":"Too Many Requests"}"#),
        ReplyFixture(
            "Auth0",
            429,
            #"{"error":"too_many_requests","error_description":"Global limit has been reached"}"#,
            ["X-RateLimit-Reset": "1900000000"]
        ),
        ReplyFixture("Discord", 429, #"error code: 1015"#, ["Content-Type": "text/plain", "Retry-After": "3600"]),
        ReplyFixture("Discord", 429, #"{"message":"You are being rate limited.","retry_after":0.65,"global":false}"#),
        ReplyFixture(
            "Dropbox",
            429,
            #"{"error":{"reason":{".tag":"too_many_requests"},"retry_after":15},"error_summary":"too_many_requests/.."}"#,
            ["Retry-After": "15"]
        ),
        ReplyFixture(
            "Feishu",
            400,
            #"{"code":20050,"error":"server_error","error_description":"An unexpected server error occurred. Please retry."}"#
        ),
        ReplyFixture(
            "GitLab",
            429,
            #"Retry later\#n"#,
            ["Content-Type": "text/plain", "Retry-After": "12", "RateLimit-Reset": "1900000000"]
        ),
        ReplyFixture("Google", 500, #"{"error":"internal_failure","error_description":"Backend Error"}"#),
        ReplyFixture(
            "Keycloak",
            500,
            #"{"error":"unknown_error","error_description":"For more on this error consult the server log at the debug level."}"#
        ),
        ReplyFixture(
            "Microsoft v2",
            400,
            #"{"error":"temporarily_unavailable","error_description":"AADSTS90033: A transient error has occurred. Please try again.","error_codes":[90033]}"#
        ),
        ReplyFixture(
            "Okta",
            500,
            #"{"errorCode":"E0000009","errorSummary":"Internal Server Error","errorId":"x","errorCauses":[]}"#
        ),
        ReplyFixture(
            "Okta",
            429,
            #"{"errorCode":"E0000047","errorSummary":"API call exceeded rate limit due to too many requests.","errorLink":"E0000047","errorId":"x","errorCauses":[]}"#,
            ["X-Rate-Limit-Reset": "1900000000"]
        ),
        ReplyFixture("Reddit", 429, #"{"message":"Too Many Requests","error":429}"#, server: .reddit),
        ReplyFixture(
            "Salesforce",
            400,
            #"{"error":"invalid_request","error_description":"token request is already being processed"}"#
        ),
        ReplyFixture("Slack", 429, #"{"ok":false,"error":"ratelimited"}"#, ["Retry-After": "30"]),
        ReplyFixture("Slack", 200, #"{"ok":false,"error":"service_unavailable"}"#),
        ReplyFixture(
            "Spotify",
            429,
            #"{"error":{"status":429,"message":"API rate limit exceeded"}}"#,
            ["Retry-After": "0"]
        ),
        ReplyFixture(
            "Supabase",
            409,
            #"{"code":409,"error_code":"conflict","msg":"Too many concurrent token refresh requests on the same session or refresh token"}"#
        ),
        ReplyFixture("Withings", 200, #"{"status":2555,"body":{},"error":"An unknown error occurred"}"#),
        ReplyFixture(
            "Withings",
            200,
            #"{"status":601,"body":{"wait_seconds":188},"error":"Same arguments in less than 10 seconds"}"#
        ),
        ReplyFixture(
            "X",
            429,
            #"{"title":"Too Many Requests","detail":"Too Many Requests","type":"about:blank","status":429}"#,
            ["x-rate-limit-reset": "1900000000"]
        ),
        ReplyFixture(
            "Zoho",
            400,
            #"{"error_description":"You have made too many requests continuously. Please try again after some time.","error":"Access Denied","status":"failure"}"#
        ),
        ReplyFixture(
            "Exact Online",
            400,
            #"{"error":"access_denied","error_description":"Rate limit exceeded: access_token not expired"}"#
        ),
        ReplyFixture(
            "Facebook",
            400,
            #"{"error":{"message":"x","type":"OAuthException","is_transient":true,"code":2}}"#
        ),
        ReplyFixture("Slack, inside", 200, #"{"ok":false,"error":"internal_error"}"#),
        ReplyFixture(
            "Withings, by its number",
            200,
            #"{"status":601,"body":{},"error":"Too Many Requests"}"#,
            server: .withings
        ),
        ReplyFixture("Withings, a time-out", 200, #"{"status":522,"body":{},"error":"x"}"#, server: .withings),
        ReplyFixture("WeChat", 200, #"{"errcode":-1,"errmsg":"system error"}"#),
        ReplyFixture("WeChat, by its number", 200, #"{"errcode":45009,"errmsg":"x"}"#, server: .weChat),
        ReplyFixture(
            "Microsoft, a loop",
            400,
            #"{"error":"invalid_grant","error_description":"AADSTS50196: The server terminated an operation","error_codes":[50196]}"#
        ),
        ReplyFixture(
            "Salesforce, a limit",
            400,
            #"{"error":"invalid_grant","error_description":"login rate exceeded"}"#
        ),
        ReplyFixture("AWS", 400, #"{"__type":"ThrottlingException","message":"Rate exceeded"}"#),
        ReplyFixture("Google", 403, #"{"error":{"code":403,"message":"x","errors":[{"reason":"rateLimitExceeded"}]}}"#),
        ReplyFixture("locked", 423, "{}"),
        ReplyFixture("in conflict", 409, ""),
        ReplyFixture("too early", 425, ""),
        ReplyFixture("calm", 420, ""),
        ReplyFixture("Retry-After beside 403", 403, #"{"message":"x"}"#, ["Retry-After": "7"]),
        ReplyFixture("Retry-After beside 400", 400, #"{"error":"invalid_request"}"#, ["Retry-After": "7"]),
        ReplyFixture("a number of seconds", 400, #"{"message":"x","retry_after":7.5}"#),
        ReplyFixture("a limit as text", 403, "Rate limit exceeded", ["Content-Type": "text/plain"]),
        ReplyFixture("a failure in a success", 200, #"{"code":503,"message":"x"}"#),
        ReplyFixture("a busy server in a success", 200, #"{"success":false,"message":"Server busy, please retry"}"#),
        ReplyFixture("a page", 200, "<!doctype html><title>Maintenance</title>", ["Content-Type": "text/html"]),
        ReplyFixture("nothing", 200, ""),
        ReplyFixture("no content", 204, ""),
        ReplyFixture("an empty object", 200, "{}"),
        ReplyFixture("an empty list", 200, "[]"),
        ReplyFixture("null", 200, "null"),
        ReplyFixture("OK", 200, "OK"),
        ReplyFixture("500 that says invalid_grant", 500, #"{"error":"invalid_grant"}"#),
        ReplyFixture("a gateway", 502, "<html>"),
        ReplyFixture("Cloudflare", 403, "error code: 1015", ["Content-Type": "text/plain"]),
        ReplyFixture("QuickBooks", 400, #"{"errorCode":"003001","message":"ThrottleExceeded"}"#),
        ReplyFixture(
            "HubSpot",
            400,
            #"{"status":"error","message":"You have reached your secondly limit.","errorType":"RATE_LIMIT"}"#
        ),
        ReplyFixture("Fitbit", 409, #"{"errors":[{"errorType":"conflict"}]}"#),
        ReplyFixture(
            "a proxy's session",
            200,
            "Your session has expired. Please log in again.",
            ["Content-Type": "text/plain"]
        ),
    ]

    static let mistakes: [ReplyFixture] = [
        ReplyFixture("Apple", 400, #"{"error":"invalid_client"}"#),
        ReplyFixture("Atlassian", 401, #"{"error":"access_denied","error_description":"Unauthorized"}"#),
        ReplyFixture(
            "RFC 6749",
            401,
            #"{"error":"invalid_client","error_description":"The refresh token client is invalid"}"#
        ),
        ReplyFixture(
            "one that speaks of the client's token",
            400,
            #"{"error":"invalid_client","error_description":"Client assertion: the token has expired"}"#
        ),
        ReplyFixture(
            "one without a refresh token",
            400,
            #"{"error":"invalid_request","error_description":"Missing required parameter: refresh_token"}"#
        ),
        ReplyFixture(
            "another kind of grant",
            400,
            #"{"error":"unauthorized_client","error_description":"The refresh_token grant is not allowed"}"#
        ),
        ReplyFixture("a new word", 400, #"{"error":"strange_word"}"#),
        ReplyFixture("a number in a success", 200, #"{"errcode":40001,"errmsg":"x"}"#),
        ReplyFixture(
            "Withings, the client",
            200,
            #"{"status":342,"body":{},"error":"The signature is invalid"}"#,
            server: .withings
        ),
        ReplyFixture(
            "HubSpot, the client",
            400,
            #"{"status":"BAD_CLIENT_ID","message":"missing or unknown client id"}"#
        ),
        ReplyFixture(
            "Strava, the client",
            400,
            #"{"error":"x","message":"Bad Request","errors":[{"resource":"Application","field":"client_id","code":"invalid"}]}"#
        ),
    ]

    static let held: [ReplyFixture] = [
        ReplyFixture("under body", 200, #"{"status":0,"body":{"access_token":"A1","refresh_token":"RT1"}}"#),
        ReplyFixture("under data, with a failure", 200, #"{"code":1,"data":{"refresh_token":"RT1"}}"#),
        ReplyFixture("other names", 200, #"{"token":"A1","renewal":"RT1"}"#),
        ReplyFixture("a promise", 202, #"{"status":"pending"}"#),
        ReplyFixture("JSON that stops", 200, #"{"acc"#),
        ReplyFixture("XML", 200, "<t><access_token>A1</access_token></t>"),
        ReplyFixture("a JSON Web Token", 200, "eyJhbGciOiJub25lIn0.e30."),
    ]
}
