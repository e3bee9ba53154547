import Testing

@testable import token_tour

@Suite("A set-up shows on real HTTP what it is worth", .serialized)
struct SetUpRunTests {
    private func run(_ name: SetUpName, rounds: Int, callers: Int) -> SetUpRun {
        SetUpRun(name: name, rounds: rounds, callers: callers) { try BuiltInServer(recorder: $0) }
    }

    @Test("Ours keep the session with one load per round", arguments: SetUpName.allCases.filter(\.isOurs))
    func ours(_ name: SetUpName) async throws {
        let result = try await run(name, rounds: 3, callers: 20).run { _ in }
        #expect(result.served == 60)
        #expect(result.callers == 60)
        #expect(result.loads == 3)
        #expect(result.reuses == 0)
        #expect(result.sessionsLost == 0)
        #expect(result.signIns == 1)
        #expect(result.isGood)
    }

    @Test("The naive ones lose it in every round", arguments: SetUpName.allCases.filter { !$0.isOurs })
    func naive(_ name: SetUpName) async throws {
        let result = try await run(name, rounds: 3, callers: 20).run { _ in }
        #expect(result.loads > 3)
        #expect(result.reuses >= 3)
        #expect(result.sessionsLost == 3)
        #expect(result.signIns == 3)
        #expect(!result.isGood)
    }

    @Test("What is drawn of a round is what the round's numbers say")
    func drawing() async throws {
        let result = try await run(.both, rounds: 2, callers: 10).run { _ in }
        let rows = SequenceDiagram(result.lastRound).rows
        func count(_ step: Step) -> Int {
            rows.first { $0.step == step }?.count ?? 0
        }
        #expect(count(.request(from: .service, to: .server, "POST /token, R2")) == 1)
        #expect(count(.answer(from: .server, to: .service, "200 A3, R3")) == 1)
        #expect(count(.answer(from: .server, to: .callbackCallers, "200 for A3")) == 5)
        #expect(count(.answer(from: .server, to: .asyncCallers, "200 for A3")) == 5)
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
