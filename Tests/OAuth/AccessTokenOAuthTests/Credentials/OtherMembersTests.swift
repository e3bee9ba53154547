import AccessTokenOAuth
import Foundation
import TestSupport
import Testing

@Suite("The other members that a credential keeps", .takesTurns, .endsHangs)
struct OtherMembersTests {
    private static let limit = 65_536

    private func response(_ members: [String: String]) -> TokenResponse {
        TokenResponse(accessToken: AccessToken(value: "A1"), refreshToken: "RT1", otherMembers: members)
    }

    private func bytes(_ credential: Credential?) -> Int {
        credential?.otherMembers.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } ?? 0
    }

    @Test func `do not grow with each response that brings a new one`() {
        var credential = Credential(refreshToken: "RT0", otherMembers: ["old": "kept"])
        for number in 1...20 {
            let value = String(repeating: "x", count: 10_000)
            credential = Credential(response(["member\(number)": value]), renewing: credential)
            #expect(bytes(credential) <= Self.limit)
            #expect(credential.otherMembers["member\(number)"] == value)
        }
        #expect(credential.otherMembers["old"] == "kept")
        #expect(credential.refreshToken == "RT1")
    }

    @Test func `are kept up to the limit to the byte`() {
        func kept(_ count: Int) -> [String: String] {
            Credential(response(["m": String(repeating: "é", count: count), "n": ""])).otherMembers
        }
        #expect(kept(Self.limit / 2 - 1).keys.sorted() == ["m", "n"])
        #expect(kept(Self.limit / 2).keys.sorted() == ["n"])
    }

    @Test func `are the ID token first, then those of the response, and the shortest of them first`() {
        let large = String(repeating: "x", count: 30_000)
        let old = Credential(refreshToken: "RT0", otherMembers: ["id_token": large, "old": large, "tiny": "t"])
        let both = Credential(response(["new": large, "huge": large + large]), renewing: old)
        #expect(both.otherMembers == ["id_token": large, "new": large, "tiny": "t"])
        #expect(both.idToken == large)
    }

    @Test func `are left out if they are too long, and so is what they replace; the tokens are kept`() {
        let old = Credential(refreshToken: "RT0", otherMembers: ["tenant": "old", "region": "eu"])
        let huge = String(repeating: "x", count: Self.limit)
        let credential = Credential(response(["tenant": huge]), renewing: old)
        #expect(credential.otherMembers == ["region": "eu"])
        #expect(credential.accessToken?.value == "A1")
        #expect(credential.refreshToken == "RT1")
    }

    @Test func `are none in a record that was stored before there were any`() throws {
        let stored = Data(#"{"credential":{"refreshToken":"RT0","scope":"read"},"version":3}"#.utf8)
        let record = try JSONDecoder().decode(CredentialRecord.self, from: stored)
        #expect(record == CredentialRecord(credential: Credential(refreshToken: "RT0", scope: "read"), version: 3))
    }
}
