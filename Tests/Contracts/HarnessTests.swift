import AccessTokenContract
import AccessTokenSynchronization
import ContractHarness
import Foundation
import TestSupport
import Testing

@Suite("What the contracts share", .endsHangs)
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

    /// Longer than any test: only an event ends a wait.
    private static let forEver: TimeInterval = 3600

    @Test func `the next clauses begin while clauses wait for what never comes, and know what these will find`() async {
        let notes = BeginningNotes()
        let silent = ["A", "B"].map { id in
            clause(id) { run in
                notes.note(run)
                _ = try await run.wait { notes.has("C") }
                throw run.violation("an answer", "none")
            }
        }
        let report = await report(on: silent + [clause("C") { notes.note($0) }])
        #expect(report.brokenIDs == ["A", "B"])
        #expect(notes.broken(for: "A") == [[]])
        #expect(notes.broken(for: "B") == [["A"]])
        #expect(notes.broken(for: "C") == [["A", "B"]])
    }

    @Test func `a clause that has begun too early begins anew when the silence before it ends`() async {
        let notes = BeginningNotes()
        let slow = clause("A") { run in
            notes.note(run)
            guard try await run.wait(until: { notes.has("B") }) else {
                throw run.violation("B to begin", "it does not")
            }
        }
        let report = await report(on: [slow, clause("B") { notes.note($0) }])
        #expect(report.isKept, "\(report)")
        #expect(notes.broken(for: "A") == [[]])
        #expect(notes.broken(for: "B") == [["A"], []])
    }

    @Test func `a clause that runs alone waits for all before it, and all behind it wait for its end`() async {
        let inside = Locked<[ClauseID]>([])
        let meetings = Locked<[[ClauseID]]>([])
        let clauses = [("A", false), ("B", true), ("C", false)].map { (id: ClauseID, runsAlone) in
            clause(id, runsAlone: runsAlone) { run in
                let others = inside.withLock { inside in
                    defer { inside.append(id) }
                    return inside
                }
                meetings.withLock { $0 += others.map { [$0, id] } }
                // The next one may begin, and has some time for it.
                run.conditions.onSilence?(nil)
                _ = await run.log.wait(0.1) { inside.withLock { $0.last } != id }
                inside.withLock { $0.removeAll { $0 == id } }
            }
        }
        let report = await report(on: clauses)
        #expect(report.isKept, "\(report)")
        #expect(meetings.withLock { $0 } == [])
    }

    @Test func `a clause that runs alone waits for the end of what has begun too early`() async {
        let notes = BeginningNotes()
        let slow = clause("A") { run in
            notes.note(run)
            _ = try await run.wait { notes.has("B") }
        }
        let hasMet = Locked(false)
        let early = clause("B") { run in
            notes.note(run)
            guard notes.broken(for: "B").count == 1 else { return }
            // The clause behind it may begin, and has some time for it.
            run.conditions.onSilence?(nil)
            let isMet = await run.log.wait(0.2) { notes.has("C") }
            hasMet.withLock { $0 = isMet }
        }
        let report = await report(on: [slow, early, clause("C", runsAlone: true) { notes.note($0) }])
        #expect(report.isKept, "\(report)")
        #expect(notes.broken(for: "B") == [["A"], []])
        #expect(!hasMet.withLock { $0 })
    }

    @Test func `the next situation begins while one waits for what a broken clause judges`() async {
        let notes = BeginningNotes()
        let broken = clause("A") { run in throw run.violation("a right answer", "a wrong one") }
        let other = PlainClause(
            ("B", .minor),
            "keep B",
            intent: "users see it",
            remedy: "mend it",
            situations: { _ in [1, 2].map(PlainSituation.init) }
        ) { run, situation in
            notes.note(run)
            if situation.number == 2 { return }
            _ = try await run.wait(accusing: { "A" }) { notes.broken(for: "B").count == 2 }
            throw NotJudged(judge: "A", violation: run.violation("a step that A judges", "it fails"))
        }
        let report = await report(on: [broken, other])
        #expect(report.brokenIDs == ["A"])
        #expect(report.leftOut.map(\.situation) == ["situation 1"])
        #expect(notes.broken(for: "B") == [["A"], ["A"]])
    }

    private func report(on clauses: [PlainClause]) async -> ContractReport {
        await PlainClause.verify(
            PlainSubject(),
            clauses,
            essential: "L1",
            mistakes: [],
            timeLimit: Self.forEver,
            onProgress: nil
        )
    }

    private func clause(
        _ id: ClauseID,
        runsAlone: Bool = false,
        scenario: @escaping @Sendable (PlainRun) async throws -> Void
    ) -> PlainClause {
        PlainClause(
            (id, .minor),
            "keep \(id)",
            intent: "users see it",
            remedy: "mend it",
            runsAlone: runsAlone,
            scenario: scenario
        )
    }
}

private struct PlainSituation: ClauseSituation {
    let number: Int
    var name: String { "situation \(number)" }
}

/// Which clauses have begun, and which ones were known to be broken then; looked at in waits.
private final class BeginningNotes: Sendable {
    private let runs = Locked<[PlainRun]>([])

    func note(_ run: PlainRun) {
        for run in runs.withLock({ runs in
            runs.append(run)
            return runs
        }) { run.log.check() }
    }

    func has(_ id: ClauseID) -> Bool { !broken(for: id).isEmpty }

    func broken(for id: ClauseID) -> [Set<ClauseID>] {
        runs.withLock { $0 }.filter { $0.judgeID == id }.map(\.conditions.broken)
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
}

private final class PlainRun: ScenarioRun {
    static let usualSetting = 0
    let context: RunContext<PlainSubject>

    init(_ context: RunContext<PlainSubject>, _ setting: Int) { self.context = context }

    func begin() async throws {}
    func end() {}
}
