import AccessTokenCore
import Foundation
import TestSupport
import Testing

@Suite("An access token", .eightAtATime)
struct AccessTokenTests {
    static let secret = "s3cr3t-value"
    let token = AccessToken(value: secret, expiration: Date(timeIntervalSince1970: 1_800_000_000))

    struct Holder {
        let label: String
        let token: AccessToken
        let maybe: AccessToken?
        let many: [AccessToken]
        let keyed: [String: AccessToken]
        let result: Result<AccessToken, any Error>
    }

    private func dumped(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }

    @Test("never prints its value, on its own or inside something else")
    func printsNoSecret() {
        let holder = Holder(
            label: "holder",
            token: token,
            maybe: token,
            many: [token],
            keyed: ["key": token],
            result: .success(token)
        )
        let texts = [
            "\(token)", token.description, token.debugDescription, String(describing: token),
            String(reflecting: token), dumped(token),
            "\(Optional(token) as Any)", String(reflecting: Optional(token)), dumped(Optional(token) as Any),
            "\([token])", String(reflecting: [token]), dumped([token]),
            "\(Set([token]))", "\(["key": token])", "\((1, token))",
            "\(Result<AccessToken, any Error>.success(token))",
            String(reflecting: Result<AccessToken, any Error>.success(token)),
            dumped(Result<AccessToken, any Error>.success(token)),
            "\(holder)", String(reflecting: holder), dumped(holder), "\(token.hashValue)",
        ]
        for text in texts {
            #expect(!text.contains(Self.secret))
        }
    }

    @Test("hides its value from reflection, and shows its expiration")
    func mirrorsNoSecret() throws {
        let children = Mirror(reflecting: token).children
        #expect(children.map(\.label) == ["expiration"])
        #expect(try #require(children.first).value as? Date == token.expiration)
    }

    @Test("describes its expiration if it has one")
    func describesExpiration() {
        #expect("\(AccessToken(value: Self.secret))" == "AccessToken(value: <hidden>)")
        #expect(token.description.hasPrefix("AccessToken(value: <hidden>, expiration: 2027-01-15"))
        #expect(token.debugDescription == token.description)
    }

    @Test("describes itself with an expiration that is no date", arguments: [Double.nan, .infinity, -.infinity, 1e300])
    func describesSenselessExpiration(seconds: Double) {
        let token = AccessToken(value: Self.secret, expiration: Date(timeIntervalSinceReferenceDate: seconds))
        #expect(token.description == "AccessToken(value: <hidden>, expiration: \(seconds))")
        #expect(dumped(token).contains("\(seconds)"))
    }

    @Test("comes back from its coded form, with an expiration and without")
    func codesBothWays() throws {
        for token in [token, AccessToken(value: Self.secret)] {
            let data = try JSONEncoder().encode(token)
            #expect(try JSONDecoder().decode(AccessToken.self, from: data) == token)
        }
    }

    @Test("is read from a stored form without an expiration")
    func readsWithoutExpiration() throws {
        let data = Data(#"{"value":"stored"}"#.utf8)
        #expect(try JSONDecoder().decode(AccessToken.self, from: data) == AccessToken(value: "stored"))
    }

    @Test("prints no value when it cannot be read")
    func failsToReadWithoutSecret() {
        let data = Data(#"{"value":"s3cr3t-value","expiration":"soon"}"#.utf8)
        #expect {
            try JSONDecoder().decode(AccessToken.self, from: data)
        } throws: { error in
            !"\(error)".contains(Self.secret)
        }
    }

    @Test("differs by value and by expiration")
    func comparesBoth() {
        #expect(token == AccessToken(value: Self.secret, expiration: token.expiration))
        #expect(token != AccessToken(value: Self.secret))
        #expect(token != AccessToken(value: "other", expiration: token.expiration))
    }
}
