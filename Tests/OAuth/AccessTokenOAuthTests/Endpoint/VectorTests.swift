import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("The vectors of requests and replies", .eightAtATime, .timeLimit(.minutes(10)))
struct VectorTests {
    private static let now = Date(timeIntervalSince1970: 1_792_000_000)

    @Test(arguments: Vectors.all.requests.filter { $0.in.client_id != nil }.map(\.id))
    func `each request goes out as its vector says`(id: String) async throws {
        let vector = try #require(Vectors.all.requests.first { $0.id == id })
        let clientID = try #require(vector.in.client_id)
        let secret = vector.in.secret ?? ""
        let authentication: ClientAuthentication =
            switch vector.in.auth {
            case "client_secret_basic": .basic(clientID: clientID, secret: secret)
            case "client_secret_basic_raw": .basicRaw(clientID: clientID, secret: secret)
            case "client_secret_post": .postBody(clientID: clientID, secret: secret)
            default: .none(clientID: clientID)
            }
        try await withServer { connection, _ in
            connection.reply(200, #"{"access_token":"A","token_type":"Bearer"}"#)
        } _: { server in
            let endpoint = try server.endpoint(authentication: authentication)
            _ = try await endpoint.exchange(.refreshToken(vector.in.rt ?? "RT0"))
            let request = try #require(server.requests.first)
            #expect(request.line == "POST /token HTTP/1.1")
            for (name, value) in vector.headers ?? [:] { #expect(request.fields[name.lowercased()] == value) }
            if let body = vector.body { #expect(request.body == body) }
            if vector.headers?["Authorization"] == nil { #expect(request.fields["authorization"] == nil) }
            #expect(request.body.contains("client_secret") == (vector.in.auth == "client_secret_post"))
            #expect(request.body.contains("client_id") == (request.fields["authorization"] == nil))
        }
    }

    @Test func `forms are encoded as their vector says`() throws {
        let vectors = Vectors.all.requests.filter { $0.encoded != nil }
        #expect(vectors.count == 1)
        for vector in vectors { #expect(FormEncoding.encoded(vector.in.value ?? "") == vector.encoded) }
    }

    /// Those without a status are about connections, and have tests of their own; so has the body of 512 MiB.
    @Test(arguments: Vectors.all.replies.filter { $0.status != nil && $0.id != "D2" })
    func `each reply comes to what its vector says`(vector: Vectors.ReplyVector) throws {
        let reader = TokenReplyReader(secrets: ["RT0"])
        let http = TokenEndpointReply(
            status: try #require(vector.status),
            retryAfter: vector.headers?["Retry-After"],
            body: Data((vector.body ?? "").utf8)
        )
        let reply = reader.read(http, at: Self.now)
        #expect(outcome(of: reply) == vector.expect.outcome)
        if let access = vector.expect.access { #expect(try reply.result.get().accessToken.value == access) }
        if let scope = vector.expect.scope { #expect(try reply.result.get().scope == scope) }
        let refreshToken = (try? reply.result.get())?.refreshToken ?? reply.rescuedRefreshToken
        if let refresh = vector.expect.refresh { #expect((refreshToken ?? "RT0") == refresh) }
    }

    private func outcome(of reply: TokenReply) -> String {
        switch reply.result {
        case .success: "tokens"
        case .failure(let error) where error.requiresSignIn: "reauth"
        case .failure(let error) where error.isTransient: "transient"
        // A redirect is a matter of configuration here; of the grant both say the same: it is kept.
        case .failure(.redirected(status: 307)): "malformed"
        case .failure(let error) where error.isConfigurationMistake: "config"
        case .failure: "malformed"
        }
    }
}

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
