import Foundation
import Testing

/// The package's own test vectors: what goes out, what a reply comes to, and what follows a 401.
struct Vectors: Decodable, Sendable {
    struct RequestVector: Decodable, Sendable {
        struct Input: Decodable, Sendable {
            let client_id: String?
            let secret: String?
            let rt: String?
            let auth: String?
            let value: String?
            let access_token: String?
        }
        let id: String
        let `in`: Input
        let headers: [String: String]?
        let body: String?
        let encoded: String?
    }

    struct ReplyVector: Decodable, Sendable, CustomTestStringConvertible {
        struct Expectation: Decodable, Sendable {
            let outcome: String
            let access: String?
            let refresh: String?
            let scope: String?
        }
        let id: String
        let status: Int?
        let headers: [String: String]?
        let ctype: String?
        let body: String?
        let expect: Expectation
        let note: String?
        var testDescription: String { id }
    }

    struct ResourceVector: Decodable, Sendable, CustomTestStringConvertible {
        let id: String
        let status: Int?
        let headers: [String: String]?
        let `repeat`: Bool?
        let callers: Int?
        var testDescription: String { id }
    }

    let requests: [RequestVector]
    let replies: [ReplyVector]
    let resource: [ResourceVector]

    static let all: Vectors = {
        do {
            let url = try #require(Bundle.module.url(forResource: "vectors", withExtension: "json"))
            return try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: url))
        } catch {
            Issue.record("the vectors cannot be read: \(error)")
            return Vectors(requests: [], replies: [], resource: [])
        }
    }()
}
