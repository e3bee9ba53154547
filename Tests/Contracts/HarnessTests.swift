import AccessTokenContract
import AccessTokenSynchronization
import ContractHarness
import Testing

@Suite("What the contracts share")
struct HarnessTests {
    private typealias PlainClause = Clause<PlainSubject>

    @Test func `names as hidden by a mistake no clause for which the subject was too slow`() async {
        let broken = ["A", "B"].map { id in clause(id) { run in throw run.violation("a right answer", "a wrong one") } }
        let slow = clause("C") { run in throw run.tooSlow }
        let hidden = clause("D") { _ in throw NotJudged(judge: "A", violation: nil) }
        let report = await PlainClause.verify(
            PlainSubject(),
            broken + [slow, hidden],
            essential: "L1",
            mistakes: [("a mistake", ["A"], ["B", "C", "D"])],
            timeLimit: 1,
            onProgress: nil
        )
        #expect(report.notJudgedIDs == ["C", "D"])
        #expect(report.commonCauses.map(\.description) == ["a mistake: A, B; not judged: D"], "\(report)")
    }

    @Test func `a lane is held after so many parts of its task, however late the next part comes`() async {
        let lane = Lane("a lane")
        let part = Locked(0)
        let (start, goesOn) = AsyncStream.makeStream(of: Void.self)
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
        lane.hold(afterParts: 2) { isHeld.yield() }
        let task = lane.start {
            part.withLock { $0 = 1 }
            begins.yield()
            for await _ in start { break }
            part.withLock { $0 = 2 }
            await Task.yield()
            part.withLock { $0 = 3 }
        }
        for await _ in begun { break }
        // Turns of the lane in which its task has nothing to do.
        for _ in 1...10 { lane.run {} }
        goesOn.yield()
        for await _ in held { break }
        #expect(lane.isHeld)
        #expect(part.withLock { $0 } == 2)
        lane.release()
        await task.value
        #expect(part.withLock { $0 } == 3)
    }

    private func clause(
        _ id: ClauseID,
        scenario: @escaping @Sendable (PlainRun) async throws -> Void
    ) -> PlainClause {
        PlainClause((id, .minor), "keep \(id)", intent: "users see it", remedy: "mend it", scenario: scenario)
    }
}

/// A subject that does nothing.
private struct PlainSubject: VerifiedSubject {
    struct Features: OptionSet {
        let rawValue: Int
    }

    typealias Run = PlainRun

    let name = "a plain subject"
    let features: Features = []
    let promises: Set<ClauseID> = []
    let errors: @Sendable (any Error) -> any Error = { $0 }
}

private final class PlainRun: ScenarioRun {
    static let usualSetting = 0
    let context: RunContext<PlainSubject>

    init(_ context: RunContext<PlainSubject>, _ setting: Int) { self.context = context }

    func begin() async throws {}
    func end() {}
}
