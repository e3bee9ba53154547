#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import token_tour

@Suite(
    "Processes meet a rotating server",
    .takesTurns,
    .serialized,
    .endsHangs,
    .enabled(
        if: ProcessInfo.processInfo.environment["KILLS"] != nil,
        "Foundation on Linux may crash a process with many open sockets when it starts another: .ci/deep kill"
    )
)
struct ProcessRunTests {
    private func result(of setUp: ProcessSetUp, latency: TimeInterval? = nil) async throws -> SetUpResult {
        var options = try Options(["--rounds", "2", "--processes", "4", "--callers", "10"])
        if let latency { options.latency = latency }
        options.program = try program(named: "token-tour")
        return try await setUp.run(options) { _ in }
    }

    @Test func `Ours keep the session with one load per round, for callers that cannot be shared out evenly`()
        async throws
    {
        let result = try await result(of: .folder)
        #expect(result.callers == RoundOutcome(served: 20))
        #expect(result.loads == 2)
        #expect(result.isGood)
    }

    @Test func `The naive ones lose it`() async throws {
        // While a load takes its time, the other processes come, also on a busy machine.
        let result = try await result(of: .naiveFile, latency: 0.5)
        #expect(result.loads > 2)
        #expect(result.sessionsLost > 0)
        #expect(!result.isGood)
    }

    @Test func `A process that ends leaves its callers unserved, and the run goes on`() async throws {
        var options = try Options(["--rounds", "2", "--processes", "2", "--callers", "6"])
        options.program = URL(filePath: "/bin/true")
        let result = try await ProcessSetUp.folder.run(options) { _ in }
        #expect(result.callers.reasons == ["the process has ended": 12])
    }
}
#endif
