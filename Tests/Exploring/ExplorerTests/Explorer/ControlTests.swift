import TestSupport
import Testing

@testable import InterleavingExplorer

@Suite("Control", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct ControlTests {
    /// Takes what comes first, after another thread has taken it away.
    private struct LateChooser: Chooser {
        let timer: Protected<VirtualTimer?>
        let asleep: [Asleep] = []
        let isIncomplete = false

        mutating func choose(among keys: [Candidate.Key], fingerprint: UInt64) -> Decision {
            let timer = timer
            if keys.count == 2 { elsewhere { timer.withLock { $0.take() }?.cancel() } }
            return .take(0)
        }

        mutating func segmentEnded(_ footprint: Footprint) {}
    }

    @Test("gives up a run in which another thread has taken away what was chosen")
    func vanishedCandidate() async {
        let execution = await onThreadOfItsOwn {
            let timer = Protected<VirtualTimer?>(nil)
            let scenario = Scenario("two timers") { run in
                run.operation("first") {
                    let first = run.clock.schedule(after: .seconds(1), "first") {}
                    timer.withLock { $0 = first }
                    try await run.clock.sleep(until: run.clock.now.advanced(by: .seconds(1)))
                }
            }
            let explorer = Explorer().with(\.preempts, false)
            var exploration = Exploration(scenario, explorer)
            var chooser: any Chooser = LateChooser(timer: timer)
            return exploration.attempt(by: &chooser)
        }
        #expect(execution.isPruned && execution.isTruncated)
    }

    @Test("knows the run that is under way, from inside only")
    func current() async {
        #expect(ScenarioRun.current == nil)
        let report = await explore("current") { run in
            run.operation("first") { ScenarioRun.current?.effect("here") }
            run.invariant("is found") { run.effects == ["here"] }
        }
        #expect(report.holds)
        #expect(ScenarioRun.current == nil)
    }

    @Test("begins with what is to be prepared, in one piece")
    func preparation() async {
        let report = await explore("prepared") { run in
            let counter = Counter()
            run.operation("first") { await counter.increment() }
            try run.prepare {
                await counter.set(10)
                await Task.yield()
                await counter.increment()
            }
            run.invariant("preparation came first") { await counter.value == 12 }
        }
        #expect(report.holds && report.isComplete)
        #expect(report.schedules == 1)
    }
}
