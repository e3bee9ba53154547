import AccessTokenCore
import Foundation
import TestSupport
import Testing

@Suite("An access token", .takesTurns)
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

    @Test(arguments: Container.allCases)
    func `never prints its value, on its own or inside something else`(container: Container) {
        #expect(!everythingShown(by: container.holding(token)).contains(Self.secret))
    }

    @Test func `describes its expiration if it has one`() {
        #expect(token.description.hasPrefix("AccessToken(value: <hidden>, expiration: 2027-01-15"))
    }

    @Test func `describes no expiration if it has none`() {
        #expect("\(AccessToken(value: Self.secret))" == "AccessToken(value: <hidden>)")
    }

    @Test func `reflects its expiration, and nothing else`() throws {
        let children = Mirror(reflecting: token).children
        #expect(children.map(\.label) == ["expiration"])
        #expect(try #require(children.first).value as? Date == token.expiration)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300])
    func `describes itself with an expiration that is no date`(seconds: Double) {
        let token = AccessToken(value: Self.secret, expiration: Date(timeIntervalSinceReferenceDate: seconds))
        #expect(token.description == "AccessToken(value: <hidden>, expiration: \(seconds))")
        #expect(everythingShown(by: token).contains("\(seconds)"))
    }

    @Test(arguments: [Date(timeIntervalSince1970: 1_800_000_000), nil])
    func `comes back from its coded form`(expiration: Date?) throws {
        let token = AccessToken(value: Self.secret, expiration: expiration)
        let data = try JSONEncoder().encode(token)
        #expect(try JSONDecoder().decode(AccessToken.self, from: data) == token)
    }

    @Test func `is read from JSON that has no expiration`() throws {
        let data = Data(#"{"value":"stored"}"#.utf8)
        #expect(try JSONDecoder().decode(AccessToken.self, from: data) == AccessToken(value: "stored"))
    }

    @Test func `prints no value when it cannot be read`() {
        let data = Data(#"{"value":"s3cr3t-value","expiration":"soon"}"#.utf8)
        #expect {
            try JSONDecoder().decode(AccessToken.self, from: data)
        } throws: { error in
            !"\(error)".contains(Self.secret)
        }
    }
}
