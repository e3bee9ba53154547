import AccessTokenOAuth
import Testing

@testable import LoopbackAuthorizationServer
@testable import token_tour

@Suite("One caller alone finds out what is wrong with a server of the user's own")
struct ServerCheckTests {
    private func check(_ arguments: [String], environment: [String: String] = [:]) async throws {
        let server = try #require(try Options(arguments, environment: environment).server)
        let credential = try #require(server.credential)
        try await ServerCheck(options: server, held: HeldCredential(credential)).run()
    }

    @Test("Nothing, where all is well")
    func good() async throws {
        try await withOddServer { _ in
            OddServer.tokens("A")
        } resource: { authorization in
            HTTPResponse(authorization == "Bearer A" ? 204 : 401, json: "")
        } _: { server in
            try await check(server.arguments("--refresh-token", "R"))
        }
    }

    @Test(
        "What the token endpoint says, and the exit status that goes with it",
        arguments: [
            (400, #"{"error":"invalid_grant"}"#, "invalid_grant", token_tour.ExitStatus.refused),
            (401, #"{"error":"invalid_client"}"#, "invalid_client", .refused),
            (400, "", "not understood", .notUnderstood), (200, "<html>", "not understood", .notUnderstood),
            (302, "", "redirects", .notUnderstood), (503, "", "cannot answer at present", .noServer),
        ]
    )
    func token(_ status: Int, _ body: String, _ words: String, _ expected: token_tour.ExitStatus) async throws {
        try await withOddServer { _ in
            HTTPResponse(status, json: body)
        } _: { server in
            let error = await #expect(throws: ServerError.self) {
                try await check(server.arguments("--refresh-token", "R-secret"))
            }
            #expect(error?.status == expected)
            #expect(error.map { "\($0)".contains(words) && !"\($0)".contains("R-secret") } == true)
        }
    }

    @Test(
        "What the resource says",
        arguments: [
            (401, "issued a moment ago"), (403, "not for this resource"), (404, "nothing at"), (302, "redirects"),
            (500, "answered 500"),
        ]
    )
    func resource(_ status: Int, _ words: String) async throws {
        try await withOddServer { _ in
            OddServer.tokens("A-secret")
        } resource: { _ in
            HTTPResponse(status, json: "", challenge: #"Basic realm="x""#)
        } _: { server in
            let error = await #expect(throws: ServerError.notServed(status: status)) {
                try await check(server.arguments("--refresh-token", "R"))
            }
            #expect(error?.status == .notServed)
            #expect(error.map { "\($0)".contains(words) && !"\($0)".contains("A-secret") } == true)
        }
    }

    @Test("A server or a resource that is not there")
    func unreachable() async throws {
        let gone = try OddServer(token: { _ in OddServer.tokens("A") })
        gone.stop()
        let noToken = await #expect(throws: ServerError.self) {
            try await check(gone.arguments("--refresh-token", "R"))
        }
        #expect(noToken?.status == .noServer)
        #expect(noToken.map { "\($0)".contains("nothing was sent") } == true)
        try await withOddServer { _ in
            OddServer.tokens("A")
        } _: { server in
            var arguments = server.arguments("--refresh-token", "R")
            arguments[3] = gone.arguments()[3]
            let noResource = await #expect(throws: ServerError.self) { try await check(arguments) }
            #expect(noResource?.status == .noServer)
            #expect(noResource.map { "\($0)".contains("no connection to the resource") } == true)
        }
    }
}
