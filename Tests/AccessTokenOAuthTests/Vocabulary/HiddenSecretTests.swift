import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("Secrets in a server's explanation", .timeLimit(.minutes(2)))
struct HiddenSecretTests {
    private func refusal(_ explanation: String, _ secrets: [String]) -> String {
        let body = #"{"error":"invalid_grant","error_description":"\#(explanation)"}"#
        let reader = TokenReplyReader(secrets: secrets, emptyRefusalIsInvalidGrant: false)
        let reply = reader.read(EndpointReply(status: 400, body: Data(body.utf8)), at: Date(timeIntervalSince1970: 0))
        return everythingShown(by: reply.error as Any)
    }

    @Test(arguments: ["\\n", "\\u200b", "\\u00ad"])
    func `one that is broken by what is taken out is hidden as well`(separator: String) {
        let text = refusal("bad token RT0-sec\(separator)ret-value", ["RT0-secret-value"])
        #expect(text.contains("bad token <hidden>"))
        #expect(!text.contains("RT0-secret-value"))
    }

    @Test func `one that begins with another is hidden whole`() {
        let text = refusal("bad appsecret-and-the-token", ["appsecret", "appsecret-and-the-token"])
        #expect(text.contains("bad <hidden>"))
        #expect(!text.contains("and-the-token"))
    }
}
