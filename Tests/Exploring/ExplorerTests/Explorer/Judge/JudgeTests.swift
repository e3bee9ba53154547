import Foundation
import InterleavingExplorer
import TestSupport
import Testing

private let environment = ProcessInfo.processInfo.environment
/// How many programs are judged; `.ci/deep judge` sets it.
private let programsOfStep = environment["EXPLORER_PROGRAMS"].flatMap { Int($0) }
private let programs = programsOfStep ?? 20
/// Which half of them this process judges, zero or one; `nil` if all of them.
private let half = environment["EXPLORER_HALF"].flatMap { Int($0) }
/// The programs are drawn from the seeds that follow this one.
private let seedBefore = (environment["EXPLORER_SEED"].flatMap { UInt64($0) } ?? 0) + UInt64(half ?? 0) * 1_000_000

/// The explorer is not believed: a model that shares no code with it says which outcomes a program has.
@Suite(
    "Judged by an independent model, the explorer",
    .eightAtATime,
    .serialized,
    .timeLimit(.minutes(programs > 1000 ? 60 : 10))
)
struct JudgeTests {
    static let count = half == nil ? programs : programs / 2

    /// These take many schedules.
    static let countWithoutReductions = max(3, count / 100)

    /// The most states that a program may have in the model: most programs can be exhausted.
    ///
    /// A search that was cut claims nothing.
    static let states = count > 1000 ? 300 : 150
    static let limit = count > 1000 ? 800 : 400

    struct Verdict: Sendable {
        let missing: Set<String>
        let excess: Set<String>
        let runs: Int
        let isComplete: Bool
    }

    static func verdict(on program: Program, reduces: Bool = true, atMost limit: Int) async -> Verdict? {
        // On a thread of its own, since the model computes for long.
        let model = await onThreadOfItsOwn { ReferenceModel.outcomes(of: program, atMost: states) }
        guard let expected = model else { return nil }
        var explorer = Explorer(.exhaustive)
        explorer.reduces = reduces
        explorer.maximumSchedules = limit
        let (found, report) = await outcomes(by: explorer) { run in
            let runner = ProgramRunner(program, run)
            runner.begin()
            return { await runner.outcome }
        }
        return Verdict(
            missing: expected.subtracting(found),
            excess: found.subtracting(expected),
            runs: report.schedules + report.redundantRuns,
            isComplete: report.isComplete
        )
    }

    /// What came of judging some programs, and what there is to object to.
    struct Judgement: Sendable {
        var exhausted = 0
        var cut = 0
        var runs = 0
        var objections: [String] = []

        mutating func add(_ verdict: Verdict, on program: Program, named name: String) {
            runs += verdict.runs
            if verdict.isComplete { exhausted += 1 } else { cut += 1 }
            let missing = verdict.isComplete ? verdict.missing : []
            guard !missing.isEmpty || !verdict.excess.isEmpty else { return }
            let (fewMissing, fewInExcess) = (Array(missing.prefix(3)), Array(verdict.excess.prefix(3)))
            objections.append("\(name)\n\(program)\nmissing \(fewMissing)\nin excess \(fewInExcess)")
        }
    }

    @Test("finds exactly the outcomes of programs drawn at random")
    func randomPrograms() async {
        var judgement = Judgement()
        var seed = seedBefore
        while judgement.exhausted < Self.count, judgement.cut < Self.count / 2 {
            seed += 1
            let program = Program(seed: seed)
            guard let verdict = await Self.verdict(on: program, atMost: Self.limit) else { continue }
            judgement.add(verdict, on: program, named: "seed \(seed)")
        }
        print("judged: \(judgement.exhausted) exhausted, \(judgement.cut) cut, \(judgement.runs) runs")
        #expect(judgement.exhausted == Self.count, "too many were cut to say anything")
        for objection in judgement.objections { Issue.record("\(objection)") }
    }

    @Test("finds exactly the outcomes of small programs")
    func smallPrograms() async {
        var judgement = Judgement()
        let step = (programsOfStep == nil ? Program.smallCount / programs : 1) * (half == nil ? 1 : 2)
        for index in stride(from: half ?? 0, to: Program.smallCount, by: step) {
            let program = Program.small(index)
            guard let verdict = await Self.verdict(on: program, atMost: Self.limit / 2) else { continue }
            judgement.add(verdict, on: program, named: "small program \(index)")
        }
        print("judged small ones: \(judgement.exhausted) exhausted, \(judgement.cut) cut, \(judgement.runs) runs")
        #expect(judgement.exhausted > judgement.cut, "too many were cut to say anything")
        for objection in judgement.objections { Issue.record("\(objection)") }
    }

    /// Programs whose search was once called complete, and was not.
    static let missedPrograms: [(why: String, program: Program)] = [
        (
            "sleep sets held two marks for independent that the races told apart",
            Program(
                operations: [
                    [.mark(1), .spawn(2, kind: .detached, [.mark(3)]), .await(spawn: 2)],
                    [.yield, .spawn(4, kind: .plain, [.mark(5)]), .yield],
                ],
                numbers: 5,
                cancelsFirst: false
            )
        ),
        (
            "both tasks are in an actor, and each then asks for the other's: that takes a request before its entry",
            Program(
                operations: [[.pass(1, from: 0, to: 1)], [.pass(2, from: 1, to: 0)]],
                numbers: 2,
                cancelsFirst: false
            )
        ),
        (
            "a task looks whether it is cancelled, is cancelled, and then enters an actor",
            Program(
                operations: [
                    [
                        .spawn(1, kind: .detached, [.lookAndAdd(2, actor: 0)]), .cancelInside(3, spawn: 1, actor: 0),
                        .await(spawn: 1),
                    ]
                ],
                numbers: 3,
                cancelsFirst: false
            )
        ),
        (
            "a task that awaits one that has ended leaves no trace of that",
            Program(
                operations: [
                    [.mark(1), .spawn(2, kind: .preferred, []), .await(spawn: 2)],
                    [.yield, .mark(3)],
                ],
                numbers: 3,
                cancelsFirst: false
            )
        ),
        (
            "a child that has ended leaves no trace where the end of its scope would have cancelled it",
            Program(
                operations: [[.childLeft(1, [.look(2)], actor: 0)], [.add(3, actor: 0)]],
                numbers: 3,
                cancelsFirst: false
            )
        ),
    ]

    @Test("finds what it once missed", arguments: missedPrograms.indices)
    func onceMissed(_ index: Int) async {
        let program = Self.missedPrograms[index].program
        let verdict = await Self.verdict(on: program, atMost: Self.limit)
        #expect(verdict?.isComplete == true)
        #expect(verdict?.missing == [])
        #expect(verdict?.excess == [])
    }

    @Test(
        "finds exactly the same without its reductions, where that can be exhausted",
        .enabled(if: programsOfStep != nil, "it takes long: .ci/deep judge")
    )
    func withoutReductions() async {
        var judgement = Judgement()
        for seed in (seedBefore + 1)...(seedBefore + 10_000) where judgement.exhausted < Self.countWithoutReductions {
            let program = Program(seed: seed)
            guard let reduced = await Self.verdict(on: program, atMost: 10), reduced.isComplete,
                let verdict = await Self.verdict(on: program, reduces: false, atMost: 500)
            else { continue }
            judgement.add(verdict, on: program, named: "seed \(seed)")
        }
        #expect(judgement.exhausted == Self.countWithoutReductions, "too many were cut to say anything")
        for objection in judgement.objections { Issue.record("\(objection)") }
    }
}
