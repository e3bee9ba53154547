import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Replies in unusual JSON", .eightAtATime, .timeLimit(.minutes(2)))
struct OddReplyTests {
    private let now = Date(timeIntervalSince1970: 1_792_000_000)

    private func read(_ body: Data, status: Int = 200, retryAfter: String? = nil) -> TokenReply {
        let reader = TokenReplyReader(secrets: ["RT0"])
        return reader.read(EndpointReply(status: status, retryAfter: retryAfter, body: body), at: now)
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
}
