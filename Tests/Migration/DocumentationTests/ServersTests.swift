import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("What the page of servers shows does what is said of it")
struct ServersTests {
    private typealias Setting = @Sendable (inout TokenEndpoint) -> Void

    private static let page = "Sources/OAuth/AccessTokenOAuth/AccessTokenOAuth.docc/Servers.md"

    private let received = Date(timeIntervalSince1970: 1_800_000_000)

    private func endpoint() throws -> TokenEndpoint {
        TokenEndpoint(try #require(URL(string: "https://auth.example/token")), authentication: .none(clientID: "app"))
    }

    private func reply(_ status: Int, _ body: String, _ headers: [String: String] = [:]) -> TokenEndpointReply {
        TokenEndpointReply(status: status, headers: headers, body: Data(body.utf8), received: received)
    }

    // MARK: The tables

    private func shown(_ meaning: ReplyMeaning) -> String {
        switch meaning {
        case .sessionEnded: "the session has ended"
        case .needsUser: "the server wants the user"
        case .later: "later"
        case .mistake: "a mistake of the app"
        case .notYet: "not yet"
        case .slowDown: "poll more slowly"
        case .denied: "the user refused"
        case .codeExpired: "the code has expired"
        }
    }

    private func check(_ table: [String], under header: String) throws {
        let rows = try tableRows(under: header, in: Self.page)
        #expect(rows == table, "put these rows into \(Self.page):\n\(table.joined(separator: "\n"))")
    }

    @Test func `the table of words has those that the client knows`() throws {
        var rows: [(meaning: String, source: String, words: [String])] = []
        for word in ReplyWord.all {
            let grant =
                switch word.grant {
                case .renewal: ", of a refresh token"
                case .device: ", of a device"
                case .other, nil: ""
                }
            let meaning = shown(word.meaning) + grant
            if let last = rows.last, last.meaning == meaning, last.source == word.source {
                rows[rows.count - 1].words.append("`\(word.word)`")
            } else {
                rows.append((meaning, word.source, ["`\(word.word)`"]))
            }
        }
        try check(
            rows.map { "| \($0.words.joined(separator: ", ")) | \($0.meaning) | \($0.source) |" },
            under: "| words | mean | source |"
        )
    }

    @Test func `the table of known servers has all that the package knows of them`() throws {
        var rows: [String] = []
        for server in KnownServer.all {
            if let place = server.tokensIn {
                rows.append("| \(server.name) | has its tokens under `\(place)` | | \(server.source ?? "") |")
            }
            if !server.tokenTypes.isEmpty {
                let types = server.tokenTypes.sorted().map { "`\($0)`" }.joined(separator: ", ")
                rows.append("| \(server.name) | has a token of type \(types) | `Bearer` | \(server.source ?? "") |")
            }
            for (rules, prefix) in [(server.rules, ""), (server.deviceRules, "to a device: ")] {
                rows += rules.map { "| \(server.name) | \(prefix)\($0) | \(shown($0.meaning)) | \($0.source ?? "") |" }
            }
        }
        #expect(
            KnownServer.all.map(\.name.localizedLowercase) == KnownServer.all.map(\.name.localizedLowercase).sorted()
        )
        try check(rows, under: "| server | the reply | means | source |")
    }

    // MARK: The code

    @Test(
        arguments: [
            (
                Servers.tokensUnderBody,
                #"{"status":0,"body":{"access_token":"A","refresh_token":"R","expires_in":60}}"#, 60
            ),
            (Servers.withings, #"{"status":0,"body":{"access_token":"A","refresh_token":"R","expires_in":60}}"#, 60),
            (Servers.otherNames, #"{"token":"A","renewal":"R","expires_in":"60"}"#, 60),
            (Servers.zeroIsForEver, #"{"access_token":"A","refresh_token":"R","expires_in":0}"#, nil),
            (Servers.zeroIsForEver, #"{"access_token":"A","refresh_token":"R","expires_in":60}"#, 60),
            (Servers.expiresOn, #"{"access_token":"A","refresh_token":"R","expires_on":"1800000060"}"#, 60),
            (Servers.identity, #"{"id_token":"A","access_token":"B","refresh_token":"R","expires_in":60}"#, 60),
        ] as [(Setting, String, TimeInterval?)]
    )
    private func `a mapping finds the tokens, and decides how long they live`(
        setting: Setting,
        body: String,
        lifetime: TimeInterval?
    ) throws {
        var endpoint = try endpoint()
        setting(&endpoint)
        let response = try endpoint.response(from: reply(200, body))
        #expect(response.accessToken == AccessToken(value: "A", expiration: lifetime.map { received + $0 }))
        #expect(response.refreshToken == "R")
        #expect(endpoint.replyMapping?(reply(200, "{}")) == nil)
    }

    @Test func `a renewal without an ID token hands out no other token`() throws {
        var endpoint = try endpoint()
        Servers.identity(&endpoint)
        let renewal = reply(200, #"{"access_token":"B","refresh_token":"R"}"#)
        #expect(throws: OAuthError.self) { try endpoint.response(from: renewal) }
        #expect(endpoint.replyMapping?(renewal)?.refreshToken == "R")
    }

    @Test func `a mapping says what no rule can say, and a device has one of its own`() throws {
        var endpoint = try endpoint()
        Servers.closedSession(&endpoint)
        Servers.notYet(&endpoint)
        let device = TokenGrant.extensionGrant("urn:ietf:params:oauth:grant-type:device_code", parameters: [:])
        func error(_ reply: TokenEndpointReply, to grant: TokenGrant) -> OAuthError? {
            do { _ = try endpoint.response(from: reply, to: grant) } catch { return error as? OAuthError }
            return nil
        }
        #expect(error(reply(403, "session closed"), to: .refreshToken("R"))?.requiresSignIn == true)
        #expect(error(reply(403, "session closed"), to: device)?.requiresSignIn == false)
        #expect(error(reply(404, ""), to: device)?.code == "authorization_pending")
        #expect(error(reply(404, ""), to: .refreshToken("R"))?.code == nil)
    }
}
