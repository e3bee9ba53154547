import Dispatch
import InterleavingExplorer
import TestSupport
import Testing

@Suite("The end of a schedule", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct EndingTests {
    /// Calls the run when its last reference goes.
    private final class Farewell: Sendable {
        private let run: ScenarioRun
        private let timer: VirtualTimer

        init(_ run: ScenarioRun) {
            self.run = run
            timer = run.clock.schedule(after: .seconds(2), "a timer of its own") {}
        }

        deinit {
            timer.cancel()
            run.effect("gone")
            run.step("one more") {}
            run.clock.schedule(after: .seconds(1), "another timer") {}
        }
    }

    @Test("ends objects that call the run then, where a timer that is cancelled had held them")
    func cancelledTimer() async {
        let report = await Explorer().explore(
            Scenario("an object that calls the run at its end") { run in
                run.operation("cancels") {
                    func start() -> VirtualTimer {
                        let object = Farewell(run)
                        return run.clock.schedule(after: .seconds(1)) { withExtendedLifetime(object) {} }
                    }
                    start().cancel()
                }
            }
        )
        #expect(report.holds, "\(report)")
    }

    @Test("ends objects that call the run then, where a timer that never ends had held them")
    func endlessTimer() async {
        var explorer = Explorer()
        explorer.maximumSchedules = 10
        let report = await explorer.explore(
            Scenario("a timer that sets itself again") { run in
                run.operation("starts it") {
                    let object = Farewell(run)
                    @Sendable func tick() {
                        run.clock.schedule(after: .seconds(1)) { withExtendedLifetime(object) { tick() } }
                    }
                    tick()
                }
            }
        )
        #expect(report.failure == nil, "\(report)")
    }

    @Test("that is the last of all is watched as well, also where tasks may wait, and the search was not complete then")
    func lastSchedule() async {
        let runs = Shared(0)
        let scenario = Scenario("late in the last schedule") { run in
            run.permitUnfinishedTasks()
            run.operation("caller") {}
            run.invariant("comes last") {
                let number = runs.withLock { runs in
                    runs += 1
                    return runs
                }
                // The only schedule, and then the same one until there are 32.
                if number == 32 {
                    elsewhere { run.effect("elsewhere") }
                }
                return true
            }
        }
        let report = await Explorer().explore(scenario)
        #expect(report.failure?.kind == .escape, "\(report)")
        #expect(report.failure?.message.contains("elsewhere") == true)
        #expect(!report.isComplete)
    }

    @Test("does not end the watch: what acts for it afterwards is an escape of the next one")
    func lateEffect() async {
        let former = Shared<ScenarioRun?>(nil)
        let report = await Explorer().explore(
            Scenario("after its end") { run in
                let last = former.withLock { former in
                    defer { former = run }
                    return former
                }
                elsewhere { last?.effect("too late") }
                run.operation("caller") {}
            }
        )
        #expect(report.failure?.kind == .escape, "\(report)")
        #expect(report.failure?.message.contains("too late") == true)
        former.withLock { $0 = nil }
    }

    @Test("by a failure leaves the rest to itself: what it does later is no escape", .timeLimit(.minutes(10)))
    func abandoned() async {
        let former = Shared<(run: ScenarioRun, answer: @Sendable () -> Void)?>(nil)
        let hasEnded = DispatchSemaphore(value: 0)
        let report = await Explorer().explore(
            Scenario("what is left") { run in
                if let last = former.withLock({ $0 }) {
                    elsewhere {
                        last.run.effect("too late")
                        last.answer()
                    }
                    // The task goes its way, elsewhere.
                    hasEnded.wait()
                }
                run.operation("caller") {
                    await unsafe withUnsafeContinuation { continuation in
                        former.withLock { $0 = (run, { unsafe continuation.resume() }) }
                    }
                    hasEnded.signal()
                }
                run.always("is broken") { former.withLock { $0?.run !== run } }
            }
        )
        #expect(report.failure?.kind == .brokenInvariant, "\(report)")
        former.withLock { $0?.answer() }
        former.withLock { $0 = nil }
    }

    @Test("lets go of all that the setup has made")
    func memory() async {
        final class Counted: Sendable {
            let count: Shared<Int>
            init(_ count: Shared<Int>) {
                self.count = count
                count.withLock { $0 += 1 }
            }
            deinit { count.withLock { $0 -= 1 } }
        }
        let count = Shared(0)
        let report = await Explorer().explore(
            Scenario("counted") { run in
                let counted = Counted(count)
                run.operation("first") {
                    run.effect("first")
                    withExtendedLifetime(counted) {}
                }
                run.operation("second") { run.effect("second") }
                // The run has the condition, and the condition the run.
                run.invariant("is there") { run.effects.count == 2 && counted.count.withLock { $0 } == 1 }
            }
        )
        #expect(report.holds && report.schedules == 2, "\(report)")
        #expect(count.withLock { $0 } == 0)
    }

    @Test("is an escape before it is anything else that follows from it, under the search and in a replay")
    func precedence() async {
        let broken = Scenario("broken by an escape") { run in
            run.operation("first") { elsewhere { run.effect("elsewhere") } }
            run.invariant("is broken") { false }
        }
        #expect(await Explorer().explore(broken).failure?.kind == .escape)
        #expect(await Explorer().replay("0", of: broken).failure?.kind == .escape)
        let atOnce = Scenario("broken in the same step") { run in
            let isTouched = Shared(false)
            run.operation("first") {
                elsewhere { run.effect("elsewhere") }
                isTouched.withLock { $0 = true }
            }
            run.always("is broken") { !isTouched.withLock { $0 } }
        }
        #expect(await Explorer().explore(atOnce).failure?.kind == .escape)
        let late = Scenario("an escape of a check") { run in
            run.operation("first") {}
            run.invariant("comes last") {
                elsewhere { run.effect("elsewhere") }
                return true
            }
        }
        #expect(await Explorer().replay("0", of: late).failure?.kind == .escape)
    }

    @Test("is a check that must not throw, and must come to an end")
    func checks() async {
        struct Objection: Error {}
        let thrown = await Explorer().explore(
            Scenario("an objection") { run in
                run.operation("first") {}
                run.invariant("is sound") { throw Objection() }
            }
        )
        #expect(thrown.failure?.kind == .brokenInvariant)
        #expect(thrown.failure?.message.contains("is sound") == true)
        #expect(thrown.failure?.message.contains("Objection") == true)
        var explorer = Explorer()
        explorer.patience = .milliseconds(1)
        let silent = await explorer.explore(
            Scenario("a silent check") { run in
                run.operation("first") {}
                run.invariant("is silent") {
                    await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                    return true
                }
            }
        )
        #expect(silent.failure?.kind == .lostWaiter, "\(silent)")
        #expect(silent.failure?.message.contains("is silent") == true)
        explorer.patience = .seconds(30)
        let foreign = await explorer.explore(
            Scenario("a check that waits for another thread") { run in
                run.operation("first") {}
                run.invariant("is elsewhere") {
                    try await Task.sleep(for: .milliseconds(500))
                    return true
                }
            }
        )
        #expect(foreign.failure?.kind == .escape, "\(foreign)")
    }

    @Test("does not come where a preparation waits for ever")
    func preparation() async {
        var explorer = Explorer()
        explorer.patience = .milliseconds(1)
        let report = await explorer.explore(
            Scenario("a silent preparation") { run in
                try run.prepare {
                    await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
                run.operation("first") {}
            }
        )
        #expect(report.failure?.kind == .lostWaiter, "\(report)")
    }

    @Test("keeps the first failure of a step")
    func firstFailure() async {
        struct Refusal: Error {}
        let report = await Explorer().explore(
            Scenario("refused and broken") { run in
                let isAsked = Shared(false)
                run.operation("first") {
                    isAsked.withLock { $0 = true }
                    throw Refusal()
                }
                run.always("is not asked") { isAsked.withLock { !$0 } }
            }
        )
        #expect(report.failure?.kind == .unexpectedError, "\(report)")
    }

    @Test("is a livelock one step later than permitted, and not before")
    func steps() async {
        let scenario = Scenario("some steps") { run in
            run.operation("first") { for _ in 1...5 { await run.pause("next") } }
        }
        var explorer = Explorer()
        explorer.maximumSteps = await explorer.explore(scenario).longestSchedule
        #expect(await explorer.explore(scenario).holds)
        explorer.maximumSteps -= 1
        #expect(await explorer.explore(scenario).failure?.kind == .livelock)
    }

    @Test("of an operation that throws CancellationError is expected only if the scenario has cancelled it")
    func cancellationError() async {
        let report = await Explorer().explore(
            Scenario("cancelled by nobody") { run in
                run.operation("first") { throw CancellationError() }
            }
        )
        #expect(report.failure?.kind == .unexpectedError, "\(report)")
    }

    @Test("of a cancelled operation with another error is not expected")
    func otherError() async {
        struct Refusal: Error {}
        let report = await Explorer().explore(
            Scenario("refused, not cancelled") { run in
                let first = run.operation("first") {
                    if Task.isCancelled { throw Refusal() }
                }
                run.step(cancelling: first)
            }
        )
        #expect(report.failure?.kind == .unexpectedError, "\(report)")
        #expect(report.failure?.schedule.delays == 1, "it is cancelled before it begins")
    }

    @Test("of one operation is not that of another one of the same name")
    func sameName() async {
        var explorer = Explorer()
        explorer.patience = .milliseconds(1)
        let report = await explorer.explore(
            Scenario("namesakes") { run in
                run.operation("caller") {}
                run.operation("caller") {
                    await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
            }
        )
        #expect(report.failure?.kind == .lostWaiter, "\(report)")
    }
}
