import AccessTokenCore
import Foundation
import TestSupport
import Testing

@Suite("An access token", .eightAtATime)
struct AccessTokenTests {
    static let secret = "s3cr3t-value"
    let token = AccessToken(value: secret, expiration: Date(timeIntervalSince1970: 1_800_000_000))

    /// What a token may be inside of.
    enum Container: CaseIterable {
        case none, optional, array, set, tuple, result, structure

        func holding(_ token: AccessToken) -> Any {
            switch self {
            case .none: token
            case .optional: Optional(token) as Any
            case .array: [token]
            case .set: Set([token])
            case .tuple: (1, token)
            case .result: Result<AccessToken, any Error>.success(token)
            case .structure: Holder(token: token, keyed: ["key": token])
            }
        }

        private struct Holder {
            let token: AccessToken
            let keyed: [String: AccessToken?]
        }
    }

    @Test("never prints its value, on its own or inside something else", arguments: Container.allCases)
    func printsNoSecret(container: Container) {
        #expect(!everythingShown(by: container.holding(token)).contains(Self.secret))
    }

    @Test("describes its expiration if it has one")
    func describesExpiration() {
        #expect(token.description.hasPrefix("AccessToken(value: <hidden>, expiration: 2027-01-15"))
    }

    @Test("describes no expiration if it has none")
    func describesNoExpiration() {
        #expect("\(AccessToken(value: Self.secret))" == "AccessToken(value: <hidden>)")
    }

    @Test("reflects its expiration, and nothing else")
    func reflectsExpiration() throws {
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

    @Test("comes back from its coded form", arguments: [Date(timeIntervalSince1970: 1_800_000_000), nil])
    func codesBothWays(expiration: Date?) throws {
        let token = AccessToken(value: Self.secret, expiration: expiration)
        let data = try JSONEncoder().encode(token)
        #expect(try JSONDecoder().decode(AccessToken.self, from: data) == token)
    }

    @Test("is read from JSON that has no expiration")
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
}
