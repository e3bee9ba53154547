import AccessTokenCore
import AccessTokenOAuth
import Foundation
import Testing

@testable import LoopbackAuthorizationServer
@testable import token_tour

@Suite("The tour of a server of the user's own", .serialized, .timeLimit(.minutes(2)))
struct UserServerTests {
    private func arguments(_ server: RotatingAuthorizationServer, _ tokens: String...) -> [String] {
        [
            "--server", server.tokenEndpoint.absoluteString, "--resource", server.resource.absoluteString,
            "--client-id", RotatingAuthorizationServer.clientID, "--rounds", "3", "--callers", "20",
        ] + tokens.flatMap { ["--refresh-token=\($0)"] }
    }

    @Test(
        "Ours share one credential: one load a round, each hands on its latest refresh token, and the last one is good"
    )
    func ours() async throws {
        try await withServer { server in
            let pair = server.signIn()
            let tour = Tour(options: try Options(arguments(server, pair.refreshToken)))
            let results = try await tour.run(progress: ProgressLine())
            #expect(results.map(\.name) == [.queue, .actor, .both])
            for result in results {
                #expect(result.isGood)
                #expect(result.loads == 3)
                #expect(result.served == 60)
            }
            // One more is the check before the tour.
            #expect(server.tally.tokenRequests == 10)
            #expect(server.tally.reuses == 0)
            #expect(tour.server.text.contains("rotation seen: 10 exchanges brought 10 new refresh tokens"))
            let last = try #require(tour.refreshToken)
            #expect(last != pair.refreshToken)
            #expect(try await server.exchange(last).status == 200)
            let report = Report(results: results, isMermaid: false, server: tour.server).text
            #expect(!report.contains(last))
            #expect(!report.contains(pair.refreshToken))
        }
    }

    @Test("The naive ones lose a credential of their own, and harm no other")
    func naive() async throws {
        try await withServer(latency: 0.02) { server in
            let pairs = (0..<3).map { _ in server.signIn() }
            let options = try Options(
                arguments(server, pairs[0].refreshToken, pairs[1].refreshToken, pairs[2].refreshToken)
            )
            let tour = Tour(options: options)
            let results = try await tour.run(progress: ProgressLine())
            #expect(results.map(\.name) == [.queue, .actor, .both, .naiveCallback, .naiveActor])
            for result in results {
                #expect(result.sessionsLost == (result.name.isOurs ? 0 : 1))
                #expect(result.isGood == result.name.isOurs)
            }
            #expect(server.isRevoked(family: pairs[1].refreshName.family))
            #expect(server.isRevoked(family: pairs[2].refreshName.family))
            #expect(try await server.exchange(try #require(tour.refreshToken)).status == 200)
        }
    }

    @Test("A session that was lost without a word is found out at the end")
    func naiveRound() async throws {
        try await withServer(latency: 0.02) { server in
            let pair = server.signIn()
            let arguments = arguments(server, pair.refreshToken) + ["--rounds", "1", "--set-up", "naive-actor"]
            let tour = Tour(options: try Options(arguments))
            #expect(try await tour.run(progress: ProgressLine()).map(\.sessionsLost) == [1])
        }
    }

    @Test("A server that does not rotate is told apart")
    func noRotation() async throws {
        try await withOddServer { number in
            OddServer.tokens("A\(number)", number.isMultiple(of: 2) ? "R-secret" : nil)
        } _: { server in
            let tour = Tour(options: try Options(server.arguments("--refresh-token", "R-secret")))
            let results = try await tour.run(progress: ProgressLine())
            #expect(results.count == 3)
            #expect(results.allSatisfy { $0.isGood && $0.loads == 2 })
            #expect(tour.server.text.contains("no rotation seen: 7 exchanges"))
            #expect(!tour.server.showsRotation)
            #expect(tour.refreshToken == "R-secret")
        }
    }

    @Test("A server that fails in the middle ends the tour, says why, and leaves the latest refresh token")
    func failure() async throws {
        try await withOddServer { number in
            // The check, two rounds of the first set-up, a round of the second one, and no more.
            number <= 4 ? OddServer.tokens("A\(number)", "R\(number)") : .failure(400, "invalid_grant")
        } _: { server in
            let tour = Tour(options: try Options(server.arguments("--refresh-token", "R0")))
            let results = try await tour.run(progress: ProgressLine())
            #expect(results.map(\.name) == [.queue, .actor])
            #expect(results.map(\.isGood) == [true, false])
            #expect(results.last?.sessionsLost == 1)
            #expect(Verdict(results: results).text.contains("unserved: 10 × no token, invalid_grant."))
            #expect(tour.refreshToken == "R4")
        }
    }

    @Test("A resource that turns against good tokens is named, and the session is not lost for it")
    func resource() async throws {
        try await withOddServer { number in
            OddServer.tokens("A\(number)", "R\(number)")
        } resource: { authorization in
            HTTPResponse(authorization == "Bearer A1" ? 200 : 401, json: "")
        } _: { server in
            let tour = Tour(options: try Options(server.arguments("--refresh-token", "R0", "--rounds", "1")))
            let results = try await tour.run(progress: ProgressLine())
            #expect(results.map(\.name) == [.queue])
            #expect(results.first?.sessionsLost == 0)
            #expect(Verdict(results: results).text.contains("10 × the resource answered 401"))
            // A load for the round, and one after the rejection.
            #expect(results.first?.loads == 2)
        }
    }
}
