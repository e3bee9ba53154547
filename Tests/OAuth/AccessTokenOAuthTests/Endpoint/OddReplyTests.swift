import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Replies in unusual JSON", .eightAtATime, .timeLimit(.minutes(10)))
struct OddReplyTests {
    private let now = Date(timeIntervalSince1970: 1_792_000_000)

    private func read(_ body: Data, status: Int = 200, retryAfter: String? = nil) -> TokenReply {
        let reader = TokenReplyReader(secrets: ["RT0"])
        return reader.read(EndpointReply(status: status, retryAfter: retryAfter, body: body), at: now)
    }

    private func read(_ body: String) -> TokenReply { read(Data(body.utf8)) }

    @Test(arguments: ["12345", "12345678901234567890123", "-1.50", "1e3", "0"])
    func `a refresh token that is a number is kept as it stands`(number: String) throws {
        let reply = read(#"{"access_token":"A1","refresh_token": \#(number) ,"x":1}"#)
        #expect(try reply.result.get().refreshToken == number)
        #expect(read(#"{"refresh_token":\#(number)}"#).rescuedRefreshToken == number)
    }

    @Test(arguments: [#"["RT1"]"#, #"{"token":"RT1"}"#, "true", "1e999"])
    func `a refresh token of any other type is no silent success`(json: String) {
        let reply = read(#"{"access_token":"A1","refresh_token":\#(json)}"#)
        #expect(reply.error == .notUnderstood(status: 200, "the refresh token is neither text nor a number"))
        #expect(reply.error?.mayHaveBeenCarriedOut == true)
        #expect(reply.refreshToken == nil)
        #expect(!everythingShown(by: reply.error as Any).contains("RT1"))
    }

    @Test(arguments: ["null", "\"\"", "false", "[]"])
    func `what stands for no refresh token is none`(json: String) throws {
        let response = try read(#"{"access_token":"A1","refresh_token":\#(json)}"#).result.get()
        #expect(response.refreshToken == nil)
        #expect(response.accessToken.value == "A1")
    }

    @Test func `a session keeps its record over a refresh token that cannot be read`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, #"{"access_token":"A1","refresh_token":["RT1"]}"#)
        } _: { server in
            let start = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")
            let store = MemoryCredentialStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            await #expect(throws: OAuthError.self) { try await loader.load(replacing: AccessToken(value: "A0")) }
            #expect(try await store.credential == start)
        }
    }

    @Test(
        arguments: [
            (.utf8, ""), (.utf16LittleEndian, ""), (.utf16BigEndian, ""), (.utf32LittleEndian, ""),
            (.utf32BigEndian, ""), (.utf8, "\u{FEFF}"), (.utf16LittleEndian, "\u{FEFF}"),
            (.utf16BigEndian, "\u{FEFF}"), (.utf32BigEndian, "\u{FEFF}"),
        ] as [(String.Encoding, String)]
    )
    func `all members are read in each encoding that the decoder takes`(encoding: String.Encoding, mark: String)
        throws
    {
        let json = #"{"access_token":"A1","refresh_token":"RT1","id_token":"I€","tenant":{"id":7}}"#
        let response = try read(try #require((mark + json).data(using: encoding))).result.get()
        #expect(response.accessToken.value == "A1")
        #expect(response.refreshToken == "RT1")
        #expect(response.otherMembers == ["id_token": "I€", "tenant": #"{"id":7}"#])
    }

    @Test(
        arguments: [
            (" 3600 ", 3600), ("3600\\n", 3600), ("0x10", nil), ("0X10", nil), ("-0x1p4", nil), ("1 hour", nil),
            ("12.5", 12.5), ("", nil), (" ", nil),
        ] as [(String, TimeInterval?)]
    )
    func `a lifetime in text is a decimal number, or none`(text: String, seconds: TimeInterval?) throws {
        let response = try read(#"{"access_token":"A1","expires_in":"\#(text)"}"#).result.get()
        #expect(response.accessToken.expiration == seconds.map { now.addingTimeInterval($0) })
    }

    /// Two fields of one name are one field with a comma (RFC 9110, section 5.3), which a date has as well.
    @Test(
        arguments: [
            ("5, 7", 7), ("7,5", 7), ("5, soon", 5), ("soon, 5", 5), ("soon, later", nil), ("5, 86401", 5), (",", nil),
            ("Thu, 08 Oct 2026 00:01:00 GMT", 0), ("Wed, 14 Oct 2026 17:48:00 GMT, 5", 80),
            ("5, Wed, 14 Oct 2026 17:48:00 GMT", 80),
            ("Wed, 14 Oct 2026 17:28:00 GMT, Wed, 14 Oct 2026 17:48:00 GMT", 80),
        ] as [(String, TimeInterval?)]
    )
    func `of several Retry-After fields the longest counts`(field: String, seconds: TimeInterval?) {
        #expect(read(Data(), status: 503, retryAfter: field).error == .unavailable(status: 503, retryAfter: seconds))
    }
}
