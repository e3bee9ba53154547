import AccessTokenGCD
import AccessTokenOAuth
import ConsoleSupport
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import token_tour

@Suite("Set-ups meet a rotating server over HTTP", .takesTurns, .serialized, .endsHangs)
struct SetUpRunTests {
    @Test(arguments: SetUp.allCases.filter(\.isOurs))
    func `Ours keep the session with one load per round`(_ setUp: SetUp) async throws {
        let result = try await setUp.run(Options(["--rounds", "2", "--callers", "20"])) { _ in }
        #expect(result.callers == RoundOutcome(served: 40))
        #expect(result.loads == 2)
        #expect(result.reuses == 0)
        #expect(result.isGood)
        let served = result.lastRound.count { if case .resourceServed = $0 { true } else { false } }
        #expect(served == 20)
    }

    /// While the load of a naive set-up takes its time, the other callers come, also on a busy machine.
    @Test(arguments: SetUp.allCases.filter { !$0.isOurs })
    func `The naive ones lose it in every round`(_ setUp: SetUp) async throws {
        var options = try Options(["--rounds", "2", "--callers", "8"])
        options.latency = 0.3
        let result = try await setUp.run(options) { _ in }
        #expect(result.loads > 2)
        #expect(result.reuses >= 2)
        #expect(result.sessionsLost == 2)
        #expect(!result.isGood)
    }

    @Test(arguments: SetUp.allCases.filter { !$0.isOurs })
    func `At a server that takes one request, the naive ones serve one caller, and the others get its 429`(
        _ setUp: SetUp
    ) async throws {
        var options = try Options(["--rounds", "1", "--callers", "8", "--limit", "1"])
        options.latency = 0.3
        let result = try await setUp.run(options) { _ in }
        let refused = try #require(result.limited)
        #expect(refused > 0 && refused == result.loads - 1)
        #expect(result.sessionsLost == 0)
        #expect(result.callers.reasons.filter { $0.key.contains("429") }.values.reduce(0, +) == refused)
    }

    @Test(arguments: SetUp.allCases.filter(\.isOurs))
    func `At the same server, ours serve every caller by that request`(_ setUp: SetUp) async throws {
        let result = try await setUp.run(Options(["--rounds", "2", "--callers", "20", "--limit", "1"])) { _ in }
        #expect(result.callers == RoundOutcome(served: 40))
        #expect(result.loads == 2)
        #expect(result.limited == 0)
    }

    @Test(arguments: SetUp.allCases.filter { !$0.isOurs })
    func `The naive ones are right as long as there is one caller`(_ setUp: SetUp) async throws {
        let result = try await setUp.run(Options(["--rounds", "2", "--callers", "1"])) { _ in }
        #expect(result.loads == 2)
        #expect(result.isGood)
    }

    @Test func `Without a folder for the credential, the tour names the place and ends as without a store`()
        async throws
    {
        var options = try Options(["--processes", "2"])
        options.temporary = URL(fileURLWithPath: "/dev/null")
        let error = await #expect(throws: FolderError.self) { try await ProcessSetUp.folder.run(options) { _ in } }
        #expect(error?.description.contains("in /dev/null: Not a directory. Set TMPDIR") == true)
        #expect(try await TokenTour.run(options) == .noStore)
    }

    @Test func `A round ends although a service loses its callbacks`() async throws {
        let silent: Caller = { _ in }
        #expect(await RoundOutcome(of: [silent, silent], within: 0) == RoundOutcome(unanswered: 2))
    }

    @Test func `A caller that the resource refuses twice, or that gets no token, is unserved for a reason`() async {
        let answers: [Result<Int, any Error>] = [.success(401), .success(204), .failure(AccessTokenError.signedOut)]
        let callers: [Caller] = answers.map { answer in { $0(answer) } }
        let expected = RoundOutcome(
            served: 1,
            reasons: ["the resource answered 401": 1, "\(AccessTokenError.signedOut)": 1]
        )
        #expect(await RoundOutcome(of: callers) == expected)
    }
}
