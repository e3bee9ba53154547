import AccessTokenOAuth
import Foundation
import Testing

@testable import token_tour

@Suite("Arguments for a server of the user's own")
struct ServerOptionsTests {
    private static let address: [String] = [
        "--server", "https://as.example/token?tenant=1", "--resource", "https://api.example/me",
    ]
    private static let complete: [String] = address + ["--client-id", "app", "--refresh-token", "R-secret"]

    @Test("Complete: our set-ups on the one credential, and no secret shown")
    func allGiven() throws {
        let options = try Options(Self.complete)
        let server = try #require(options.server)
        #expect(server.endpoint.url.absoluteString == "https://as.example/token?tenant=1")
        #expect(server.resource.absoluteString == "https://api.example/me")
        #expect("\(server.endpoint.authentication)" == "ClientAuthentication(none, clientID: app)")
        #expect(server.credential?.refreshToken == "R-secret")
        #expect(options.setUps == [.queue, .actor, .both])
        #expect(!server.printsRefreshToken)
        var dumped = ""
        dump(options, to: &dumped)
        #expect(!dumped.contains("R-secret"))
        #expect(try Options(Self.complete + ["--print-refresh-token"]).server?.printsRefreshToken == true)
    }

    @Test("The naive set-ups come last, and each with a refresh token of its own")
    func naive() throws {
        let one = try Options(Self.complete + ["--refresh-token=R1"])
        #expect(one.setUps == [.queue, .actor, .both, .naiveCallback])
        #expect(one.server?.naiveCredentials[.naiveCallback]?.refreshToken == "R1")
        let both = try Options(Self.complete + ["--refresh-token=R1", "--refresh-token=--R2"])
        #expect(both.setUps == [.queue, .actor, .both, .naiveCallback, .naiveActor])
        #expect(both.server?.naiveCredentials[.naiveActor]?.refreshToken == "--R2")
        let chosen = try Options(Self.complete + ["--set-up", "naive-actor"])
        #expect(chosen.setUps == [.naiveActor])
        #expect(chosen.server?.credential == nil)
        #expect(chosen.server?.naiveCredentials[.naiveActor]?.refreshToken == "R-secret")
    }

    @Test("The client proves itself as it is told to, with the secret of the environment")
    func authentication() throws {
        for (method, name) in [("basic", "basic"), ("basic-raw", "basicRaw"), ("post", "postBody")] {
            let arguments = Self.complete + ["--client-auth", method]
            let options = try Options(arguments, environment: ["CLIENT_SECRET": "s3cret"])
            let authentication = try #require(options.server).endpoint.authentication
            #expect("\(authentication)" == "ClientAuthentication(\(name), clientID: app)")
            #expect(throws: UsageError.missingSecret(method)) { try Options(arguments) }
        }
    }

    @Test(
        "What is missing or makes no sense is named",
        arguments: [
            (["--server", "https://a/b"], .missingOption("--resource")),
            (Self.address, .missingOption("--client-id")),
            (Self.address + ["--client-id", "app"], .missingOption("--refresh-token")),
            (["--resource", "https://a/b"], .needsServer("--resource")),
            (["--print-refresh-token"], .needsServer("--print-refresh-token")),
            (["--server", "--resource", "https://a/b"], .missingValue("--server")),
            (["--server", "R-secret"] + Self.complete.dropFirst(2), .badURL("--server")),
            (["--server", "ftp://127.0.0.1/"] + Self.complete.dropFirst(2), .badURL("--server")),
            (["--server", "http://as.example/"] + Self.complete.dropFirst(2), .insecureURL("--server")),
            (Self.complete + ["--server", "https://a/b"], .repeated("--server")),
            (Self.complete + ["--client-auth", "R-secret"], .unknownClientAuth),
            (Self.complete + ["--client-secret=R-secret"], .unknown("--client-secret")),
            (Self.complete + ["--client-secret", "R-secret"], .secretArgument),
            (Self.complete + ["--print-refresh-token=R-secret"], .unknown("--print-refresh-token")),
            (Self.complete + ["R-secret"], .noOption(position: 9)),
            (Self.complete + ["--refresh-token"], .missingValue("--refresh-token")),
            (Self.complete + ["--refresh-token", "R-secret"], .sameRefreshToken),
            (Self.complete + ["--refresh-token=a", "--refresh-token=b", "--refresh-token=c"], .tooManyRefreshTokens),
            (Self.complete + ["--set-up=queue", "--set-up=naive-actor"], .missingRefreshToken(.naiveActor)),
        ] as [([String], UsageError)]
    )
    func refused(_ arguments: [String], _ expected: UsageError) {
        #expect(throws: expected) { try Options(arguments) }
        #expect(!expected.description.contains("R-secret"))
    }

    @Test(
        "On the loopback address http will do",
        arguments: ["127.0.0.1:8080", "127.9.0.1", "localhost:1", "[::1]:80"]
    )
    func loopback(_ host: String) throws {
        let arguments = ["--server", "http://\(host)/token"] + Self.complete.dropFirst(2)
        #expect(try Options(Array(arguments)).server?.endpoint.url.scheme == "http")
    }

    @Test("Not everything that begins like it is the loopback address", arguments: ["127.0.0.1.example.com", "127.1x"])
    func noLoopback(_ host: String) {
        let arguments = ["--server", "http://\(host)/token"] + Self.complete.dropFirst(2)
        #expect(throws: UsageError.insecureURL("--server")) { try Options(Array(arguments)) }
    }
}
