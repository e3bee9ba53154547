import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

/// What the catalogue of hostile servers does not show: each way to write a member or a field.
@Suite("Replies of the token endpoint", .takesTurns, .endsHangs)
struct ReplyTests {
    private let now = Date(timeIntervalSince1970: 1_792_000_000)

    private func read(_ status: Int, _ body: String, retryAfter: String? = nil) -> TokenReply {
        read(status, Data(body.utf8), retryAfter: retryAfter)
    }

    private func read(_ status: Int, _ body: Data, retryAfter: String? = nil) -> TokenReply {
        let reader = TokenReplyReader(secrets: ["RT0-secret"])
        let headers = retryAfter.map { ["Retry-After": $0] } ?? [:]
        return reader.read(TokenEndpointReply(status: status, headers: headers, body: body, received: now))
    }

    @Test(
        arguments: [
            #""x":[1,2,],"refresh_token":"RT1""#, #""refresh_token":"RT1","#, "\"refresh_token\":\"RT1\" ,\n ",
        ]
    )
    func `a comma behind the last member costs no session`(rest: String) async throws {
        try await withServer(replying: 200, #"{"access_token":"A1",\#(rest)}"#) { server in
            let store = MemoryCredentialStore(Credential(refreshToken: "RT0"))
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            #expect(try await loader.load(replacing: nil).value == "A1")
            #expect(try await store.refreshToken == "RT1")
        }
    }

    /// A name in Latin-1, half a surrogate pair, and an escape that JSON does not have.
    @Test(arguments: [[0x4A, 0xFC], Array(#"\ud83d"#.utf8), Array(#"\x41"#.utf8)] as [[UInt8]])
    func `a name of a member that cannot be read costs no session`(name: [UInt8]) throws {
        let start = Data(#"{"access_token":"A1",""#.utf8)
        let reply = read(200, start + name + Data(#"":"x","refresh_token":"RT1"}"#.utf8))
        #expect(try reply.result.get().refreshToken == "RT1")
    }

    @Test(arguments: [",", #""access_token":"A1",,"#])
    func `a comma behind nothing is none of an object`(members: String) throws {
        #expect(JSONMembers(of: Data("{\(members)}".utf8)) == nil)
    }

    @Test(
        arguments: [
            ("3600", 3600), (#""3600""#, 3600), ("0", 0), ("12.5", 12.5), ("1e300", 3_155_760_000), ("1e400", nil),
            (#""inf""#, nil), (#""nan""#, nil), ("null", nil), (#""soon""#, nil), ("[]", nil), ("true", nil),
            (#"" 3600 ""#, 3600), (#""3600\n""#, 3600), (#""0x10""#, nil), (#""0X10""#, nil), (#""-0x1p4""#, nil),
            (#""1 hour""#, nil), (#""12.5""#, 12.5), (#""""#, nil), (#"" ""#, nil),
            // Servers write it for a token that does not expire; taken for expired, each call would be an exchange.
            ("-1", nil), (#""-5""#, nil),
        ] as [(String, TimeInterval?)]
    )
    func `a lifetime is read in whatever way it is written`(json: String, seconds: TimeInterval?) throws {
        let reply = read(200, #"{"access_token":"A","expires_in":\#(json)}"#)
        #expect(try reply.result.get().accessToken.expiration == seconds.map { now.addingTimeInterval($0) })
    }

    @Test(arguments: [(#""a b""#, "a b"), (#"["a","b"]"#, "a b"), ("[]", nil), ("[1]", nil), ("{}", nil), ("7", nil)])
    func `a scope is text, or a list`(json: String, scope: String?) throws {
        #expect(try read(200, #"{"access_token":"A","scope":\#(json)}"#).result.get().scope == scope)
    }

    @Test(arguments: [#""""#, "7", "null", #""A B""#, #""ä""#, #""A\u0000""#, #""A\r\nX: 1""#])
    func `an access token that cannot be used is an error, and the refresh token beside it is saved`(json: String) {
        let reply = read(200, #"{"access_token":\#(json),"token_type":"Bearer","refresh_token":"RT1"}"#)
        #expect(reply.error?.isTransient == false)
        #expect(reply.error?.requiresSignIn == false)
        #expect(reply.rescuedRefreshToken == "RT1")
    }

    @Test(arguments: ["12345", "12345678901234567890123", "-1.50", "1e3", "10"])
    func `a refresh token that is a number is kept as it stands`(number: String) throws {
        let reply = read(200, #"{"access_token":"A1","refresh_token": \#(number) ,"x":1}"#)
        #expect(try reply.result.get().refreshToken == number)
        #expect(read(200, #"{"refresh_token":\#(number)}"#).rescuedRefreshToken == number)
    }

    @Test(arguments: [#"["RT1"]"#, #"{"token":"RT1"}"#, "true", "1e999"])
    func `a refresh token of any other type is no silent success`(json: String) {
        let reply = read(200, #"{"access_token":"A1","refresh_token":\#(json)}"#)
        #expect(reply.error == .notUnderstood(status: 200, "the refresh token is neither text nor a number"))
        #expect(reply.error?.mayHaveBeenCarriedOut == true)
        #expect(reply.rescuedRefreshToken == nil)
        #expect(!everythingShown(by: reply.error as Any).contains("RT1"))
    }

    @Test(arguments: [
        "null", #""""#, "false", "[]", "[ ]", "{ }", "0", "0.0", #""0""#, #""null""#, #""None""#, #""undefined""#,
        #"" ""#, #""False""#,
    ])
    func `what stands for nothing is none, as a refresh token and as an error`(json: String) throws {
        let reply = read(200, #"{"access_token":"A1","refresh_token":\#(json),"error":\#(json)}"#)
        #expect(try reply.result.get() == TokenResponse(accessToken: AccessToken(value: "A1")))
    }

    @Test(arguments: [#""bad_refresh_token""#, #"{"code":1}"#, "1", "true"])
    func `an error in a success is never a token`(json: String) {
        let reply = read(200, #"{"error":\#(json),"access_token":"A","refresh_token":"RT1"}"#)
        #expect(reply.error?.requiresSignIn == false)
        #expect(reply.rescuedRefreshToken == "RT1")
    }

    @Test(arguments: [#""OK""#, #""Success""#, #""SUCCESS""#, #""succeeded""#, #""successful""#, "200"])
    func `a server that names no error in the place of one has given the token`(json: String) throws {
        let reply = read(200, #"{"error":\#(json),"access_token":"A","refresh_token":"RT1"}"#)
        #expect(try reply.result.get().refreshToken == "RT1")
    }

    @Test(arguments: [("\"null\"", "access_token"), ("0", "access_token"), ("\"undefined\"", "refresh_token")])
    func `what stands for nothing is none in a reply that the app's mapping reads`(json: String, name: String) {
        var members = ["access_token": #""A""#, "refresh_token": #""RT1""#]
        members[name] = json
        var ways = TokenReplyReader.Ways()
        ways.reply = { TokenResponse(members: $0.members(of: "data"), received: $0.received) }
        let data = members.map { #""\#($0)":\#($1)"# }.joined(separator: ",")
        let reply = TokenReplyReader(secrets: [], ways: ways)
            .read(TokenEndpointReply(status: 200, body: Data(#"{"data":{\#(data)}}"#.utf8)))
        let response = try? reply.result.get()
        #expect(name == "access_token" ? response == nil : response != nil && response?.refreshToken == nil)
    }

    @Test(
        arguments: [
            (.utf8, ""), (.utf16LittleEndian, ""), (.utf16BigEndian, ""), (.utf32LittleEndian, ""),
            (.utf32BigEndian, ""), (.utf8, "\u{FEFF}"), (.utf16LittleEndian, "\u{FEFF}"),
            (.utf16BigEndian, "\u{FEFF}"), (.utf32BigEndian, "\u{FEFF}"),
        ] as [(String.Encoding, String)]
    )
    func `all members are read in each encoding of JSON`(encoding: String.Encoding, mark: String) throws {
        let json = #"{"access_token":"A1","refresh_token":"RT1","id_token":"I€","tenant":{"id":7}}"#
        let response = try read(200, try #require((mark + json).data(using: encoding))).result.get()
        #expect(response.accessToken.value == "A1" && response.refreshToken == "RT1")
        #expect(response.otherMembers == ["id_token": "I€", "tenant": #"{"id":7}"#])
    }

    @Test func `members that mean nothing here are text as it is, and anything else as its JSON`() {
        let json = #"""
            { "access_token": "A", "id_token" : "e30.x" , "ok":true,"n":12345678901234567890.10, "none":null,
              "list": [1, {"a": "}]"} ] , "o":{"a":{}}, "q":"a\"\\\u00e9\n", "":"empty", "k\u0031":"key", "scope":"s" }
            """#
        #expect(
            TokenReplyMembers(Data(json.utf8))?.others == [
                "id_token": "e30.x", "ok": "true", "n": "12345678901234567890.10", "list": #"[1, {"a": "}]"} ]"#,
                "o": #"{"a":{}}"#, "q": "a\"\\é\n", "": "empty", "k1": "key",
            ]
        )
    }

    @Test(arguments: [200, 400, 401, 403])
    func `the body decides what a refusal means, and not its status`(status: Int) {
        for code in ["invalid_grant", "bad_refresh_token", "invalid_refresh_token"] {
            let error = read(status, #"{"error":"\#(code)"}"#).error
            #expect(error?.requiresSignIn == true)
            #expect(error.map { "\($0)".contains("sign in again") && !"\($0)".contains("kept") } == true)
        }
        for code in ["invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "new_one"] {
            let error = read(status, #"{"error":"\#(code)"}"#).error
            #expect(error?.isConfigurationMistake == true)
            #expect(error?.code == code)
        }
        for code in ["temporarily_unavailable", "server_error", "slow_down"] {
            let error = read(status, #"{"error":"\#(code)"}"#, retryAfter: "7").error
            #expect(error == .unavailable(status: status, retryAfter: 7))
            #expect(error?.code == code)
        }
    }

    @Test func `an app can know what its server means by a reply that brings no token`() throws {
        func mapped(_ status: Int, _ body: String) -> OAuthError? {
            var ways = TokenReplyReader.Ways()
            ways.failure = { reply in
                reply.status != 403 || reply.text == "session closed" ? .refused("invalid_grant") : nil
            }
            let reader = TokenReplyReader(secrets: [], ways: ways)
            return reader.read(TokenEndpointReply(status: status, body: Data(body.utf8))).error
        }
        #expect(mapped(403, " session closed\n")?.requiresSignIn == true)
        #expect(mapped(403, "") == .notUnderstood(status: 403, "it is empty"))
        #expect(mapped(200, #"{"access_token":"A1"}"#) == nil)
        #expect(mapped(200, #"{"refresh_token":"RT1"}"#)?.requiresSignIn == false)
    }

    /// Two fields of one name are one field with a comma (RFC 9110, section 5.3), which a date has as well.
    @Test(
        arguments: [
            ("2", 2), (" 7 ", 7), ("0", 0), ("86400", 86_400), ("86401", 86_400), ("99999999999999999999", 86_400),
            ("soon", nil), ("-1", nil), ("1.5", 1.5), ("1.5.2", nil), (".", nil), ("", nil), ("5, 7", 7), ("7,5", 7),
            ("5, soon", 5),
            ("soon, 5", 5),
            ("soon, later", nil), ("5, 86401", 86_400), (",", nil),
            // An instant in seconds or milliseconds since 1970.
            ("1792000060", 60), ("1792000060000", 60), ("1791999000", 0), ("1892000060", 86_400),
            ("Wed, 14 Oct 2026 17:48:00 GMT", 80),
            ("Wednesday, 14-Oct-26 17:48:00 GMT", 80), ("Wed Oct 14 17:48:00 2026", 80),
            ("Thu, 08 Oct 2026 00:01:00 GMT", 0), ("Fri, 16 Oct 2026 17:48:00 GMT", 86_400),
            ("Wed, 14 Oct 2026 17:48:00 GMT, 5", 80), ("5, Wed, 14 Oct 2026 17:48:00 GMT", 80),
            ("Wed, 14 Oct 2026 17:28:00 GMT, Wed, 14 Oct 2026 17:48:00 GMT", 80),
            // Characters beyond ASCII end the process in the formatter of Foundation on Linux.
            ("Wed, 21 Oct \u{7A8}026 07:28:00 GMT", nil), ("Wed, 21 Oct \u{BBF}026 07:28:00 GMT", nil),
        ] as [(String, TimeInterval?)]
    )
    func `Retry-After is seconds or an instant, the longest counts, and it is cut to a day`(
        field: String,
        seconds: TimeInterval?
    ) {
        for status in [429, 503] {
            #expect(read(status, "", retryAfter: field).error == .unavailable(status: status, retryAfter: seconds))
            // In the body it is read as in the field.
            let body = read(status, #"{"retry_after":"\#(field)"}"#)
            #expect(body.error == .unavailable(status: status, retryAfter: seconds))
        }
    }

    @Test(arguments: [
        ("7", 7), ("7.5", 7.5), ("1792000060", 60), ("-1", nil), ("true", nil), ("null", nil), ("[]", nil),
    ])
    func `a pause in the body may be a number`(json: String, seconds: TimeInterval?) {
        #expect(read(429, #"{"retry_after":\#(json)}"#).error == .unavailable(status: 429, retryAfter: seconds))
    }

    /// The server asks for 30 seconds, and the clock of this machine is right, slow or fast by an hour.
    @Test(arguments: [0.0, -3600, 3600])
    func `an instant is one of the server's clock, if the reply tells that`(skew: TimeInterval) {
        for instant in ["Wed, 14 Oct 2026 17:47:10 GMT", "1792000030"] {
            let fields = ["Date": "Wed, 14 Oct 2026 17:46:40 GMT", "Retry-After": instant]
            let reply = TokenEndpointReply(status: 503, headers: fields, body: Data(), received: now + skew)
            #expect(reply.retryAfter == 30, "\(instant)")
        }
    }

    /// The record of a session is not removed for them: none of them speaks of a refresh token.
    @Test(
        arguments: [
            ("authorization_pending", "poll again"), ("slow_down", "5 s slower"), ("expired_token", "anew"),
            ("access_denied", "user refused"),
        ]
    )
    func `a code of the device grant can be read, and says what to do next`(code: String, advice: String) throws {
        for error in [try #require(read(400, #"{"error":"\#(code)"}"#).error), .refused(code)] {
            #expect(error.code == code)
            #expect(!error.isConfigurationMistake && !error.requiresSignIn && !error.mayHaveBeenCarriedOut)
            #expect("\(error)".contains(code) && "\(error)".contains(advice) && !"\(error)".contains("grant is kept"))
        }
        #expect(read(400, #"{"error":"\#(code)"}"#).error?.isTransient == (code == "slow_down"))
    }

    @Test func `slow_down is a pause of five seconds or more`() {
        func error(_ status: Int, _ retryAfter: String? = nil) -> OAuthError? {
            read(status, #"{"error":"slow_down"}"#, retryAfter: retryAfter).error
        }
        #expect(error(400)?.retryAfter == 5 && error(429)?.retryAfter == 5 && error(429)?.code == "slow_down")
        #expect(error(400, "2")?.retryAfter == 5 && error(400, "9")?.retryAfter == 9)
        #expect(read(503, #"{"error":"invalid_grant"}"#).error?.code == nil)
    }
}
