extension KnownServer {
    /// All servers here, in the order of their names; the page of servers has a row for each rule.
    public static let all: [KnownServer] = [
        .douyin, .eBay, .facebook, .feishu, .firebase, .microsoft, .nextcloud, .openAI, .reddit, .schwab, .slack,
        .trakt, .weChat, .withings,
    ]

    /// Douyin, whose replies have everything under `data`.
    public static let douyin = KnownServer(
        "Douyin",
        tokensIn: "data",
        source: "developer.open-douyin.com, refresh-access-token",
        rules: [
            .when(
                "data.error_code",
                is: "10010",
                means: .sessionEnded,
                source: "developer.open-douyin.com, refresh-access-token"
            )
        ]
    )

    /// eBay, whose types of token have spaces.
    public static let eBay = KnownServer(
        "eBay",
        tokenTypes: ["User Access Token", "Application Access Token"],
        source: "developer.ebay.com, oauth-refresh-token-request and oauth-client-credentials-grant"
    )

    /// Facebook's Graph API, whose errors are numbers.
    public static let facebook = KnownServer(
        "Facebook",
        rules: [
            .when("error.code", is: "1", "2", "4", "17", "341", means: .later, source: facebookErrors),
            .when("error.error_subcode", is: "459", "464", means: .needsUser, source: facebookErrors),
            .when("error.code", is: "102", "190", means: .sessionEnded, source: facebookErrors),
        ]
    )

    private static let facebookErrors = "developers.facebook.com, Graph API, Handling Errors"

    /// Feishu, and Lark.
    public static let feishu = KnownServer(
        "Feishu",
        rules: [
            .when("code", is: "20050", means: .later, source: larkErrors),
            .when("code", is: "20026", "20037", "20064", "20073", means: .sessionEnded, source: larkErrors),
        ]
    )

    private static let larkErrors = "larksuite/cli, lark_errors.go"

    /// Firebase Authentication, the exchange of a refresh token for an ID token.
    public static let firebase = KnownServer(
        "Firebase",
        rules: [
            .when(
                "error.message",
                is: "USER_DISABLED",
                "USER_NOT_FOUND",
                means: .sessionEnded,
                source: "firebase.google.com, docs/reference/rest/auth"
            )
        ]
    )

    /// Microsoft Entra ID, whose numbers say more than its words.
    public static let microsoft = KnownServer(
        "Microsoft",
        rules: [
            .when("error_codes", is: "50196", "90024", "90033", "90055", means: .later, source: microsoftErrors),
            .when("error_codes", is: "50074", "50076", "50078", "50079", means: .needsUser, source: microsoftErrors),
            .when("error_codes", is: "50058", "50158", "65001", means: .needsUser, source: microsoftErrors),
        ]
    )

    private static let microsoftErrors = "learn.microsoft.com, reference-error-codes"

    /// Nextcloud, whose `invalid_request` means that no token of that value is known.
    public static let nextcloud = KnownServer(
        "Nextcloud",
        rules: [
            .when(
                "error",
                is: "invalid_request",
                status: 400,
                means: .sessionEnded,
                source: "nextcloud/server, OauthApiController.php"
            )
        ]
    )

    /// OpenAI's device login, whose server has a status in place of "not yet".
    public static let openAI = KnownServer(
        "OpenAI",
        deviceRules: [
            .when(status: 403, 404, means: .notYet, source: "openai/codex, device_code_auth.rs")
        ]
    )

    /// Reddit, whose error is the status of HTTP.
    public static let reddit = KnownServer(
        "Reddit",
        rules: [
            .when(
                "error",
                is: "400",
                status: 400,
                means: .sessionEnded,
                source: "praw-dev/praw#677, michael-lazar/rtv#377"
            )
        ]
    )

    /// Schwab, which says of a refresh token that it does not take that its type is not supported.
    ///
    /// Such a reply was also seen long before the refresh token was to expire, so the credential stays.
    public static let schwab = KnownServer(
        "Schwab",
        rules: [
            .when(
                "error",
                is: "unsupported_token_type",
                status: 400,
                means: .needsUser,
                source: "tylerebowers/Schwabdev#40"
            )
        ]
    )

    /// Slack, whose types of token say whom a token acts for.
    public static let slack = KnownServer(
        "Slack",
        tokenTypes: ["bot", "user"],
        source: "docs.slack.dev, using-token-rotation"
    )

    /// Trakt's device login, whose server has statuses only.
    public static let trakt = KnownServer(
        "Trakt",
        deviceRules: [
            .when(status: 400, means: .notYet, source: traktStatuses),
            .when(
                status: 404,
                409,
                410,
                means: .codeExpired,
                source: traktStatuses
            ),
            .when(status: 418, means: .denied, source: traktStatuses),
            .when(status: 429, means: .slowDown, source: traktStatuses),
        ]
    )

    private static let traktStatuses = "trakt.docs.apiary.io, Poll for the access_token"

    /// WeChat, whose errors are numbers in a reply of 200.
    public static let weChat = KnownServer(
        "WeChat",
        rules: [
            .when(
                "errcode",
                is: "-1",
                "45009",
                "45011",
                means: .later,
                source: weChatCodes
            ),
            .when(
                "errcode",
                is: "40030",
                "42002",
                means: .sessionEnded,
                source: weChatCodes
            ),
        ]
    )

    private static let weChatCodes = "developers.weixin.qq.com, Global_Return_Code"

    /// Withings, whose replies are all of status 200, with a status of their own.
    public static let withings = KnownServer(
        "Withings",
        tokensIn: "body",
        source: "support.withings.com, Shutting down access and refresh tokens endpoints",
        rules: [
            .when("status", is: "601", means: .later, source: "jaroslawhartman/withings-sync#237"),
            .when("status", is: "2555", means: .later, source: "simplificator/simplificator-withings, error.rb"),
            .when("status", is: "522", means: .later, source: "vangorra/python_withings_api, const.py"),
        ]
    )
}
