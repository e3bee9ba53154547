import AccessTokenCore
import Foundation
import TestSupport
import Testing

@Suite("An access token", .eightAtATime)
struct AccessTokenTests {
    static let secret = "s3cr3t-value"
    let token = AccessToken(value: secret, expiration: Date(timeIntervalSince1970: 1_800_000_000))

    struct Holder {
        let token: AccessToken
        let keyed: [String: AccessToken?]
        let result: Result<AccessToken, any Error>
    }

    @Test("never prints its value, on its own or inside something else")
    func printsNoSecret() {
        let holder = Holder(token: token, keyed: ["key": token], result: .success(token))
        let values: [Any] = [token, Optional(token) as Any, [token], Set([token]), (1, token), holder.result, holder]
        for value in values { #expect(!everythingShown(by: value).contains(Self.secret)) }
    }

    @Test("describes and reflects its expiration if it has one")
    func describesExpiration() throws {
        #expect("\(AccessToken(value: Self.secret))" == "AccessToken(value: <hidden>)")
        #expect(token.description.hasPrefix("AccessToken(value: <hidden>, expiration: 2027-01-15"))
        let children = Mirror(reflecting: token).children
        #expect(children.map(\.label) == ["expiration"])
        #expect(try #require(children.first).value as? Date == token.expiration)
    }

    @Test("describes itself with an expiration that is no date", arguments: [Double.nan, .infinity, -.infinity, 1e300])
    func describesSenselessExpiration(seconds: Double) {
        let token = AccessToken(value: Self.secret, expiration: Date(timeIntervalSinceReferenceDate: seconds))
        #expect(token.description == "AccessToken(value: <hidden>, expiration: \(seconds))")
        #expect(everythingShown(by: token).contains("\(seconds)"))
    }

    @Test("comes back from its coded form, with an expiration and without")
    func codesBothWays() throws {
        for token in [token, AccessToken(value: Self.secret)] {
            let data = try JSONEncoder().encode(token)
            #expect(try JSONDecoder().decode(AccessToken.self, from: data) == token)
        }
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
}
