import Dispatch
import TestSupport
import Testing

@testable import InterleavingExplorer

@Suite("Control", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct ControlTests {
    /// For what comes from outside, as late as the machine likes: patience ends with the first of it.
    private var patient: Explorer {
        var explorer = Explorer()
        explorer.patience = .seconds(30)
        return explorer
    }

    @Test("reaches plain tasks and detached tasks inside the subject")
    func plainTasks() async {
        let unguarded = await Explorer().explore(loading(.unguarded, callers: 2, plainTasks: true))
        #expect(unguarded.failure?.kind == .brokenInvariant)
        let guarded = await Explorer().explore(loading(.loadClears, callers: 2, plainTasks: true))
        #expect(guarded.holds && guarded.isComplete, "\(guarded)")
        #expect(guarded.schedules > 1)
        let journal = Journal()
        let plain = await Explorer().explore(
            Scenario("plain tasks") { run in
                run.operation("first") {
                    let task = Task { run.effect("task") }
                    let detached = Task.detached { run.effect("detached") }
                    await task.value
                    await detached.value
                }
                run.invariant("is recorded") {
                    journal.add(run.effects.joined(separator: " "))
                    return true
                }
            }
        )
        #expect(plain.isComplete)
        #expect(Set(journal.all) == ["task detached", "detached task"])
    }

    @Test("reports a sleep in real time, and whose it is", arguments: [("sleeper", false), ("sleeper/1", true)])
    func realSleep(name: String, isPlain: Bool) async {
        let report = await patient.explore(
            Scenario("a real sleep") { run in
                run.operation("sleeper") {
                    if isPlain {
                        try await Task { try await Task.sleep(for: .milliseconds(500)) }.value
                    } else {
                        try await Task.sleep(for: .milliseconds(500))
                    }
                }
            }
        )
        #expect(report.failure?.kind == .escape)
        #expect(report.failure?.message.contains("\(name) was resumed") == true, "\(report)")
    }

    @Test("reports an effect on another thread")
    func foreignEffect() async {
        let report = await Explorer().explore(
            Scenario("a foreign effect") { run in
                run.operation("first") {
                    DispatchQueue.global().sync {
                        elsewhere { run.effect("elsewhere") }
                        elsewhere { run.effect("again") }
                    }
                }
            }
        )
        #expect(report.failure?.kind == .escape)
        #expect(report.failure?.message.contains("elsewhere") == true, "the first one is told")
    }

    @Test("reports a step or a timer that another thread asks for", arguments: ["step", "timer", "cancellation"])
    func foreignRequest(kind: String) async {
        let report = await Explorer().explore(
            Scenario("a foreign request") { run in
                run.operation("first") {
                    let timer = kind == "cancellation" ? run.clock.schedule(after: .seconds(1), "elsewhere") {} : nil
                    elsewhere {
                        switch kind {
                        case "step": run.step("elsewhere") {}
                        case "timer": run.clock.schedule(after: .seconds(1), "elsewhere") {}
                        default: timer?.cancel()
                        }
                    }
                }
            }
        )
        #expect(report.failure?.kind == .escape)
        #expect(report.failure?.message.contains("elsewhere") == true)
    }

    /// Takes what comes first, after another thread has taken it away.
    private struct LateChooser: Chooser {
        let timer: Shared<VirtualTimer?>
        let asleep: [Asleep] = []
        let isIncomplete = false
        let isFree = true

        mutating func choose(among keys: [Candidate.Key], fingerprint: UInt64) -> Decision {
            let timer = timer
            if keys.count == 2 { elsewhere { timer.withLock { $0.take() }?.cancel() } }
            return .take(0)
        }

        mutating func segmentEnded(_ footprint: Footprint, known: Footprint.Known) {}
    }

    @Test("gives up a run in which another thread has taken away what was chosen")
    func vanishedCandidate() async {
        let execution = await onThreadOfItsOwn {
            let timer = Shared<VirtualTimer?>(nil)
            let scenario = Scenario("two timers") { run in
                run.operation("first") {
                    let first = run.clock.schedule(after: .seconds(1), "first") {}
                    timer.withLock { $0 = first }
                    try await run.clock.sleep(until: run.clock.now.advanced(by: .seconds(1)))
                }
            }
            var explorer = Explorer()
            explorer.preempts = false
            var exploration = Exploration(scenario, explorer)
            var chooser: any Chooser = LateChooser(timer: timer)
            return exploration.attempt(by: &chooser)
        }
        #expect(execution.isPruned && execution.isTruncated)
    }

    @Test("leaves other tasks of the process alone while it explores")
    func bystanders() async {
        async let report = Explorer().explore(loading(.loadClears, callers: 3))
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 1...200 {
                group.addTask {
                    await Task.yield()
                    return await Task.detached { number }.value
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 20_100)
        #expect(await report.holds)
    }

    @Test("knows the run that is under way, from inside only")
    func current() async {
        #expect(ScenarioRun.current == nil)
        let report = await Explorer().explore(
            Scenario("current") { run in
                run.operation("first") { ScenarioRun.current?.effect("here") }
                run.invariant("is found") { run.effects == ["here"] }
            }
        )
        #expect(report.holds)
        #expect(ScenarioRun.current == nil)
    }

    @Test("begins with what is to be prepared, in one piece")
    func preparation() async {
        let report = await Explorer().explore(
            Scenario("prepared") { run in
                let counter = Counter()
                run.operation("first") { await counter.increment() }
                try run.prepare {
                    await counter.set(10)
                    await Task.yield()
                    await counter.increment()
                }
                run.invariant("preparation came first") { await counter.value == 12 }
            }
        )
        #expect(report.holds && report.isComplete)
        #expect(report.schedules == 1)
    }
}
