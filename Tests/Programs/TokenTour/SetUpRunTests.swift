import ConsoleSupport
import TestSupport
import Testing

@testable import TokenTour

@Suite("Set-ups meet a rotating server over HTTP", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct SetUpRunTests {
    private func run(_ setUp: SetUp, rounds: Int, callers: Int) -> SetUpRun {
        SetUpRun(setUp: setUp, rounds: rounds, callers: callers)
    }

    /// While the load of a naive set-up takes its time, the other callers come, also on a busy machine.
    private func slowly(_ setUp: SetUp, rounds: Int, callers: Int) -> SetUpRun {
        SetUpRun(setUp: setUp, rounds: rounds, callers: callers, latency: 0.5)
    }

    @Test("Ours keep the session with one load per round", arguments: SetUp.allCases.filter(\.isOurs))
    func ours(_ setUp: SetUp) async throws {
        let result = try await run(setUp, rounds: 3, callers: 20).run { _ in }
        #expect(result.callers.served == 60)
        #expect(result.callers.count == 60)
        #expect(result.loads == 3)
        #expect(result.reuses == 0)
        #expect(result.sessionsLost == 0)
        #expect(result.signIns == 1)
        #expect(result.isGood)
    }

    @Test("The naive ones lose it in every round", arguments: SetUp.allCases.filter { !$0.isOurs })
    func naive(_ setUp: SetUp) async throws {
        let result = try await slowly(setUp, rounds: 3, callers: 20).run { _ in }
        #expect(result.loads > 3)
        #expect(result.reuses >= 3)
        #expect(result.sessionsLost == 3)
        #expect(result.signIns == 3)
        #expect(!result.isGood)
    }

    @Test("The recorded steps of a round agree with its numbers")
    func steps() async throws {
        let result = try await run(.both, rounds: 2, callers: 10).run { _ in }
        #expect(count(.request(from: .service, to: .server, "POST /token, R2"), in: result) == 1)
        #expect(count(.answer(from: .server, to: .service, "200 A3, R3"), in: result) == 1)
        #expect(count(.answer(from: .server, to: .callbackCallers, "200 for A3"), in: result) == 5)
        #expect(count(.answer(from: .server, to: .asyncCallers, "200 for A3"), in: result) == 5)
    }

    @Test("Ours write the credential once a round, with its expiration", arguments: SetUp.allCases.filter(\.isOurs))
    func writes(_ setUp: SetUp) async throws {
        let result = try await run(setUp, rounds: 2, callers: 10).run { _ in }
        #expect(writes(in: result).map(\.step) == [.request(from: .service, to: .store, "write A3, 60 min")])
        #expect(count(.request(from: .service, to: .store, "lock and read"), in: result) == 1)
    }

    @Test("The naive ones write it once for each load", arguments: SetUp.allCases.filter { !$0.isOurs })
    func naiveWrites(_ setUp: SetUp) async throws {
        let result = try await slowly(setUp, rounds: 1, callers: 10).run { _ in }
        #expect(result.loads > 1)
        #expect(writes(in: result).count == result.loads)
        #expect(count(.request(from: .service, to: .store, "write: signed out"), in: result) > 0)
    }

    private func count(_ step: SequenceDiagram.Content, in result: SetUpResult) -> Int {
        result.lastRound.count { $0.step == step }
    }

    private func writes(in result: SetUpResult) -> [RoundRecorder.Moment] {
        result.lastRound.filter { moment in
            guard case .arrow("service", "store", _, let text) = moment.step else { return false }
            return text.hasPrefix("write")
        }
    }

    @Test("A tour that is cancelled ends between two rounds")
    func cancelled() async {
        let started = AsyncStream.makeStream(of: Int.self)
        let run = Task {
            try await self.run(.queue, rounds: 1000, callers: 2).run { started.continuation.yield($0) }
        }
        var rounds = started.stream.makeAsyncIterator()
        #expect(await rounds.next() == 1)
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
    }
}
