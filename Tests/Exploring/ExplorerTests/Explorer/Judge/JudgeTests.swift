import Foundation
import InterleavingExplorer
import TestSupport
import Testing

private let environment = ProcessInfo.processInfo.environment
/// How many programs are judged; `.ci/deep judge` sets it.
private let programsOfStep = environment["EXPLORER_PROGRAMS"].flatMap { Int($0) }
private let programs = programsOfStep ?? 10
/// The programs are drawn from the seeds that follow this one.
private let seedBefore = environment["EXPLORER_SEED"].flatMap { UInt64($0) } ?? 0

/// What came of judging some programs, and what there is to object to.
private struct Judgement {
    var exhausted = 0
    var cut = 0
    var runs = 0
    var runsOnThreads = 0
    var objections: [String] = []

    /// Judges one more program, unless it has too many states for the model.
    ///
    /// A search that was cut claims nothing.
    mutating func add(_ program: Program, _ name: String, atMost limit: Int) async {
        // Most programs with so few states can be exhausted. On a thread of its own, since the model computes for long.
        let states = programs > 1000 ? 300 : 150
        let model = await onThreadOfItsOwn { ReferenceModel(program).outcomes(atMost: states) }
        guard let expected = model else { return }
        let explorer = Explorer(.exhaustive).with(\.maximumSchedules, limit)
        let (found, report) = await outcomes(by: explorer) { run in
            ProgramRunner.explore(program, in: run)
        }
        runs += report.schedules + report.redundantRuns
        if report.isComplete { exhausted += 1 } else { cut += 1 }
        let missing = report.isComplete ? expected.subtracting(found).sorted() : []
        let excess = found.subtracting(expected).sorted()
        let unseen = report.isComplete ? await outcomesOnThreads(of: program).subtracting(found).sorted() : []
        guard !missing.isEmpty || !excess.isEmpty || !unseen.isEmpty else { return }
        objections.append(
            """
            \(name)
            \(program)
            missing \(missing.prefix(3))
            in excess \(excess.prefix(3))
            on threads only \(unseen.prefix(3))
            """
        )
    }

    /// What the program comes to on real threads, which need not be all that it can come to; the step looks there.
    private mutating func outcomesOnThreads(of program: Program) async -> Set<String> {
        guard programsOfStep != nil else { return [] }
        var outcomes: Set<String> = []
        for _ in 0..<50 {
            outcomes.insert(await ProgramRunner.runOnThreads(program))
            runsOnThreads += 1
        }
        return outcomes
    }

    func close(_ name: String) {
        print("judged \(name): \(exhausted) exhausted, \(cut) cut, \(runs) runs, \(runsOnThreads) on threads")
        for objection in objections { Issue.record("\(objection)") }
    }
}

/// The explorer is not believed: a model that shares no code with it says which outcomes a program has.
///
/// A search takes one core: each half of the programs has a test of its own, and both run at the same time.
@Suite(
    "Judged by an independent model, the explorer",
    .takesTurnsToExplore,
    .endsHangs
)
struct JudgeTests {
    /// How many runs a search may have; without the step, a program that needs more is left to the step.
    static let limit = programsOfStep.map { $0 > 1000 ? 800 : 400 } ?? 120

    @Test(arguments: [0, 1])
    func `finds exactly the outcomes of programs drawn at random`(half: Int) async {
        var judgement = Judgement()
        var seed = seedBefore + UInt64(half) * 1_000_000
        while judgement.exhausted < programs / 2, judgement.cut < programs {
            seed += 1
            await judgement.add(Program(seed: seed), "seed \(seed)", atMost: Self.limit)
        }
        judgement.close("random ones")
        #expect(judgement.exhausted == programs / 2, "too many were cut to say anything")
    }

    @Test(arguments: [0, 1])
    func `finds exactly the outcomes of programs with priorities`(half: Int) async {
        var judgement = Judgement()
        var seed = seedBefore + UInt64(half) * 1_000_000
        while judgement.exhausted < programs / 2, judgement.cut < programs {
            seed += 1
            await judgement.add(Program(seedOfPriorities: seed), "seed \(seed) of priorities", atMost: Self.limit)
        }
        judgement.close("ones with priorities")
        #expect(judgement.exhausted == programs / 2, "too many were cut to say anything")
    }

    @Test(arguments: [0, 1])
    func `finds exactly the outcomes of small programs`(half: Int) async {
        var judgement = Judgement()
        let step = programsOfStep == nil ? 41 : 1
        for index in stride(from: half * step, to: Program.smallCount, by: 2 * step) {
            await judgement.add(Program.small(index), "small program \(index)", atMost: Self.limit)
            if programsOfStep == nil, judgement.exhausted == programs / 2 { break }
        }
        judgement.close("small ones")
        if programsOfStep == nil { return #expect(judgement.exhausted == programs / 2, "too many were cut") }
        #expect(judgement.exhausted > judgement.cut, "too many were cut to say anything")
    }

    /// Programs whose search was once called complete, and was not.
    static let missedPrograms: [(why: String, operations: [[Program.Statement]])] = [
        (
            "sleep sets held two marks for independent that the races told apart",
            [
                [.mark(1), .spawn(2, kind: .detached, [.mark(3)]), .await(spawn: 2)],
                [.yield, .spawn(4, kind: .plain, [.mark(5)]), .yield],
            ]
        ),
        (
            "both tasks are in an actor, and each then asks for the other's: that takes a request before its entry",
            [[.pass(1, from: 0, to: 1)], [.pass(2, from: 1, to: 0)]]
        ),
        (
            "a task looks whether it is cancelled, is cancelled, and then enters an actor",
            [
                [
                    .spawn(1, kind: .detached, [.look(4), .add(2, actor: 0)]), .cancelInside(3, spawn: 1, actor: 0),
                    .await(spawn: 1),
                ]
            ]
        ),
        (
            "a task goes on behind a look, and others behind the cancellation",
            [
                [
                    .spawn(1, kind: .detached, [.guardAndAdd(2, actor: 0)]), .cancel(spawn: 1), .add(3, actor: 0),
                ]
            ]
        ),
        (
            "a scope is left behind the end of its child, which it would have cancelled before",
            [[.childLeft(1, [.look(2)], actor: 0)]]
        ),
        (
            "a task that awaits one that has ended leaves no trace of that",
            [[.mark(1), .spawn(2, kind: .preferred, []), .await(spawn: 2)], [.yield, .mark(3)]]
        ),
    ]

    @Test(arguments: missedPrograms.indices)
    func `finds what it once missed`(_ index: Int) async {
        let (why, operations) = Self.missedPrograms[index]
        var judgement = Judgement()
        await judgement.add(Program(operations: operations), why, atMost: 400)
        judgement.close(why)
        #expect(judgement.exhausted == 1)
    }
}
