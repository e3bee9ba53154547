import Foundation
import Testing

@testable import AccessTokenOAuth

/// Whatever a success looks like: a refresh token in it is kept, or the old one is not sent again.
@Suite("Odd successes lose no session")
struct OddReplyTests {
    private enum Kept: Hashable {
        /// The next refresh token is known.
        case token
        /// The old one is not sent: it may be spent.
        case held
        /// The old one is sent again.
        case sentAgain
    }

    private func kept(_ body: Data, status: Int = 200, _ fields: [String: String] = [:]) -> Kept? {
        let reply = TokenReplyReader(secrets: ["RT0"], grant: .renewal)
            .read(TokenEndpointReply(status: status, headers: fields, body: body))
        if (try? reply.result.get())?.refreshToken == "RT1" || reply.rescuedRefreshToken == "RT1" { return .token }
        switch reply.fate {
        case nil: return nil  // A token without the next refresh token.
        case .held: return .held
        case .unanswered, .notCarriedOut, .refused: return .sentAgain
        }
    }

    private func kept(_ text: String, status: Int = 200) -> Kept? { kept(Data(text.utf8), status: status) }

    private static let members = [#""access_token":"A1""#, #""token_type":"Bearer""#, #""expires_in":3600"#]

    private static func object(_ refresh: String) -> String {
        "{\((members + [refresh]).joined(separator: ","))}"
    }

    @Test(arguments: [
        "refresh_token", "refreshToken", "refresh-token", "RefreshToken", "REFRESH_TOKEN", "Refresh_Token",
        "refreshtoken", "REFRESH-TOKEN",
    ])
    func `each spelling of the name, in each order, at each status of success`(name: String) {
        let all = Self.members + [#""\#(name)":"RT1""#]
        for shift in all.indices {
            let body = "{\((all[shift...] + all[..<shift]).joined(separator: ","))}"
            for status in [200, 201, 202, 203, 206, 207, 226, 299] { #expect(kept(body, status: status) == .token) }
        }
    }

    private static let besides = [
        #""refresh_token":"RT1","error":null"#, #""refresh_token":"RT1","error":"""#,
        #""refresh_token":"RT1","error":0"#,
        #""refresh_token":"RT1","error":false"#, #""refresh_token":"RT1","error":[]"#,
        #""refresh_token":"RT1","error":{}"#, #""refresh_token":"RT1","errors":[]"#,
        #""refresh_token":"RT1","error_description":"""#, #""refresh_token":"RT1","ok":true"#,
        #""refresh_token":"RT1","success":true,"code":0"#, #""refresh_token":"RT1","status":200"#,
        #""refresh_token":"RT1","message":"OK""#, #""refresh_token":"RT1","result":null"#,
        #""refresh_token":null,"refreshToken":"RT1""#, #""refreshToken":"RT1","refresh_token":null"#,
        #""refresh_token":"","refreshToken":"RT1""#, #""refresh_token":"RT1","refresh_token":null"#,
        #""refresh_token":null,"refresh_token":"RT1""#, #""refresh_token":"RT0","refresh_token":"RT1""#,
        #""refresh_token":"RT1","data":{"refresh_token":null}"#, #""refresh_token":"RT1","x":"\u0000""#,
        #""refresh_token":"\u0052T1""#, #""refresh_token" : "RT1" "#, "\"refresh_token\":\n\t\"RT1\"\r\n",
        #""refresh_token":"RT1","#, #""refresh_token":"RT1","token_type":"mac""#,
        #""refresh_token":"RT1","error":"invalid_grant""#, #""refresh_token":"RT1","ok":false"#,
        #""refresh_token":"RT1","success":false,"code":7"#, #""refresh_token":"RT1","errcode":42002"#,
        #""refresh_token":"RT1","access_token":"""#, #""refresh_token":"RT1","access_token":null"#,
        #""refresh_token":"RT1","access_token":"ä""#, #""refresh_token":"RT1","access_token":7"#,
        #""refresh_token":"RT1","expires_in":"soon""#, #""refresh_token":"RT1","scope":{"a":1}"#,
        #""refresh_token":"RT1","error_code":"temporarily_unavailable""#,
        #""refresh_token":"RT1","message":"The refresh token has expired""#,
    ]

    @Test(arguments: besides)
    func `whatever stands beside it`(rest: String) { #expect(kept(Self.object(rest)) == .token) }

    private static let wrapped: [String] =
        [
            #"["RT1"]"#, #"{"value":"RT1"}"#, #"{"token":"RT1","expires_in":5}"#, #""RT1\n""#, #""RT1\u0007""#,
            #""RTä""#, "true",
            "1e999",
        ]
        .map { object(#""refresh_token":\#($0)"#) }
        + ["data", "body", "result", "response", "payload", "tokens", "token", "auth", "0", "d.e"].flatMap { name in
            [
                #"{"\#(name)":\#(object(#""refresh_token":"RT1""#))}"#,
                #"{"code":0,"\#(name)":\#(object(#""refresh_token":"RT1""#)),"message":"ok"}"#,
                #"{"ok":true,"x":{"\#(name)":\#(object(#""refresh_token":"RT1""#))}}"#,
                #"{"code":1,"\#(name)":\#(object(#""refresh_token":"RT1""#))}"#,
                #"{"\#(name)":[\#(object(#""refresh_token":"RT1""#))]}"#,
            ]
        }
        + [
            #"{"token":"A1","renewal":"RT1"}"#, #"{"at":"A1","rt":"RT1"}"#, #"{"jwt":"A1","next":"RT1"}"#,
            #"{"access":{"token":"A1"},"refresh":{"token":"RT1"}}"#, #"{"id_token":"A1","other":"RT1"}"#,
            #"{"credentials":"RT1"}"#, #"{"a":1}"#, #"{"status":"pending"}"#, #"{"ticket":"x"}"#,
        ]

    @Test(arguments: wrapped)
    func `where it is not found, the old one is held`(body: String) { #expect(kept(body) == .held) }

    private static let whole = object(#""refresh_token":"RT1""#)

    private static let broken: [String] =
        [
            ")]}',\n", "while(1);", "for(;;);", "&&&START&&&", "<br />\n<b>Warning</b>: x\n", "\"", "\\", "'", "data: ",
            "callback(", "[", "0\r\n", "/**/", "<!-- x -->", "<pre>",
        ].map { $0 + whole }
        + ["{}", "}", "x", ";", "<!-- 0.1 s -->", "\n{}", ",", "\u{0}x", "]"].map { whole + $0 }
        + [
            "[\(whole)]", "\"\(whole.replacing("\"", with: "\\\""))\"", whole.replacing("\"", with: "'"),
            whole.replacing(":", with: "="), whole.replacing(",", with: ";"), whole.replacing("}", with: "]"),
            whole.replacing(",", with: " "),
            "<t><access_token>A1</access_token><refresh_token>RT1</refresh_token></t>",
            "<?xml version=\"1.0\"?><o><accessToken>A1</accessToken></o>", "access_token: A1\nrefresh_token: RT1\n",
            "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d", Data(whole.utf8).base64EncodedString(),
        ]

    @Test(arguments: broken)
    func `what is no object, and may have a token, holds the old one`(body: String) { #expect(kept(body) == .held) }

    @Test func `each beginning of a reply that stops holds the old one`() {
        for count in 1..<Self.whole.utf8.count {
            #expect(kept(Data(Self.whole.utf8.prefix(count))) == .held, "\(count)")
        }
    }

    @Test func `each encoding of Unicode is read, and what a proxy has left compressed is held`() throws {
        for encoding in [
            String.Encoding.utf8, .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian,
            .utf32BigEndian,
        ] {
            let data = try #require(Self.whole.data(using: encoding))
            #expect(kept(data) == .token, "\(encoding)")
            #expect(kept(data.dropLast(4)) == .held, "\(encoding)")
        }
        for head: [UInt8] in [[0x1F, 0x8B, 8, 0], [0x78, 0x9C, 0xAB], [0x78, 0xDA, 1], [0x28, 0xB5, 0x2F, 0xFD, 4]] {
            #expect(kept(Data(head + [0xFF, 0xFE, 0x80, 7])) == .held)
        }
    }

    @Test(arguments: ["\0", "\0\0\n", "\r\n\0"])
    func `zeros behind it, which a program in C sends along, cost nothing`(end: String) {
        #expect(kept(Self.whole + end) == .token)
        #expect(kept("access_token=A1&refresh_token=RT1" + end) == .token)
        #expect(kept(Self.whole + end + "x") == .held)
    }

    private static let pages = [
        "", " ", "\n", "null", "[]", "{}", "{ }", "OK", "true", "0", "\"\"", "<html>", "<!doctype html><p>Welcome",
        "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">", "\u{FEFF}<html><body>Maintenance</body></html>",
        "Service is down for maintenance", "Please log in to the network",
        #"{"error":"server_error"}"#, #"{"error":"strange"}"#, #"{"ok":false,"error":"internal_error"}"#,
        #"{"code":503,"message":"x"}"#, #"{"errcode":-1,"errmsg":"x"}"#, #"{"success":false}"#,
    ]

    @Test(arguments: pages)
    func `what has no trace of a token holds nothing`(body: String) { #expect(kept(body) == .sentAgain) }
}
