import InterleavingExplorer
import TestSupport
import Testing

private struct Refusal: Error {}

/// A scenario that fails, and how.
struct Fault: Sendable, CustomTestStringConvertible {
    let name: String
    let kind: ScenarioFailure.Kind
    var says = ""
    /// How long the explorer waits for what never comes; where something comes from outside, patience ends with that.
    var patience = Duration.seconds(30)
    let setUp: @Sendable (ScheduledRun) throws -> Void

    var testDescription: String { name }

    static let all = endings + checks + escapes

    private static let endings: [Fault] = [
        Fault(name: "a lost waiter", kind: .lostWaiter, says: ": walker (or", patience: .milliseconds(1)) { run in
            run.operation("opener") {}
            run.operation("walker") { await silence() }
        },
        Fault(
            name: "an operation that listens for ever, and does not say so",
            kind: .lostWaiter,
            says:
                ": feed (or waiting for something that the explorer does not control, such as a thread or a timer; an "
                + "operation that listens for as long as it lives says listens: true)",
            patience: .milliseconds(1)
        ) { run in
            let (elements, source) = AsyncStream.makeStream(of: Int.self)
            run.operation("feed") { for await _ in elements {} }
            run.operation("walker") { withExtendedLifetime(source) {} }
        },
        Fault(name: "a waiter whose namesake has ended", kind: .lostWaiter, patience: .milliseconds(1)) { run in
            run.operation("caller") {}
            run.operation("caller") { await silence() }
        },
        Fault(name: "a preparation that waits for ever", kind: .lostWaiter, patience: .milliseconds(1)) { run in
            try run.prepare { await silence() }
            run.operation("first") {}
        },
        Fault(
            name: "a preparation of more steps than are permitted",
            kind: .livelock,
            says: "the preparation is still going on after 2000 steps; if it is to be so long, raise maximumSteps"
        ) { run in
            try run.prepare { for _ in 1...3000 { await Task.yield() } }
            run.operation("first") {}
        },
        Fault(name: "a silent task", kind: .unfinishedTask, says: "caller/1", patience: .milliseconds(1)) { run in
            let counter = Counter()
            run.operation("caller") {
                Task(executorPreference: run.executor) {
                    await counter.increment()
                    await silence()
                }
            }
        },
        Fault(name: "an endless loop", kind: .livelock) { run in
            run.operation("first") { while true { await Task.yield() } }
        },
        Fault(
            name: "an error that nobody expects",
            kind: .unexpectedError,
            says: #"first threw Refusal(); if it may, say so with run.operation("first", mayThrow: true), and let"#
        ) { run in
            run.operation("first") { throw Refusal() }
        },
        Fault(name: "a cancellation error where nobody has cancelled", kind: .unexpectedError) { run in
            run.operation("first") { throw CancellationError() }
        },
        Fault(name: "a cancelled operation with another error", kind: .unexpectedError, says: "Refusal") { run in
            let first = run.operation("first") { if Task.isCancelled { throw Refusal() } }
            run.step(cancelling: first)
        },
    ]

    private static let checks: [Fault] = [
        Fault(name: "a condition that is broken for a moment", kind: .brokenInvariant, says: "taken at most") { run in
            let journal = Journal()
            run.step("take") { journal.add("taken") }
            run.operation("first") { await run.pause("a moment") }
            run.always("taken at most at the beginning") { journal.all.isEmpty }
        },
        Fault(name: "an error, and a condition that is broken by the same step", kind: .unexpectedError) { run in
            let isAsked = Protected(false)
            run.operation("first") {
                isAsked.withLock { $0 = true }
                throw Refusal()
            }
            run.always("is not asked") { isAsked.withLock { !$0 } }
        },
        Fault(name: "a check that throws", kind: .brokenInvariant, says: "“is sound” threw Refusal") { run in
            run.operation("first") {}
            run.invariant("is sound") { throw Refusal() }
        },
        Fault(name: "a check that waits for another thread", kind: .escape) { run in
            run.operation("first") {}
            run.invariant("is elsewhere") {
                // In real time on purpose, as below: that is what the explorer must notice.
                try await Task.sleep(for: .milliseconds(50))
                return true
            }
        },
    ]

    /// An escape comes before whatever follows from it.
    private static let escapes: [Fault] = [
        Fault(name: "a sleep in real time", kind: .escape, says: "sleeper was resumed") { run in
            run.operation("sleeper") { try await Task.sleep(for: .milliseconds(50)) }
        },
        Fault(name: "the first of two effects on another thread", kind: .escape, says: "elsewhere") { run in
            run.operation("first") {
                elsewhere { run.effect("elsewhere") }
                elsewhere { run.effect("again") }
            }
        },
        Fault(name: "a step from another thread", kind: .escape, says: "elsewhere") { run in
            run.operation("first") { elsewhere { run.step("elsewhere") {} } }
        },
        Fault(name: "a timer from another thread", kind: .escape, says: "elsewhere") { run in
            run.operation("first") { elsewhere { run.clock.schedule(after: .seconds(1), "elsewhere") {} } }
        },
        Fault(name: "a timer that another thread cancels", kind: .escape, says: "elsewhere") { run in
            run.operation("first") {
                let timer = run.clock.schedule(after: .seconds(1), "elsewhere") {}
                elsewhere { timer.cancel() }
            }
        },
        Fault(name: "an escape, and a check that fails", kind: .escape, says: "elsewhere") { run in
            run.operation("first") { elsewhere { run.effect("elsewhere") } }
            run.invariant("is broken") { false }
        },
        Fault(name: "an escape before a condition that its step breaks", kind: .escape, says: "elsewhere") { run in
            let isTouched = Protected(false)
            run.operation("first") {
                elsewhere { run.effect("elsewhere") }
                isTouched.withLock { $0 = true }
            }
            run.always("is broken") { !isTouched.withLock { $0 } }
        },
    ]
}

@Suite("The explorer finds", .takesTurnsToExplore, .serialized, .endsHangs)
struct FailureTests {
    @Test(arguments: Fault.all)
    func `what fails, in the search and in a replay`(_ fault: Fault) async throws {
        let explorer = Explorer().with(\.patience, fault.patience)
        let scenario = Scenario(fault.name, setUp: fault.setUp)
        let report = await explorer.explore(scenario)
        let failure = try #require(report.failure, "\(report)")
        #expect(failure.kind == fault.kind, "\(report)")
        #expect(fault.says.isEmpty || failure.message.contains(fault.says), "\(report)")
        #expect(await explorer.replay(failure.schedule, of: scenario).failure?.kind == fault.kind)
    }

    @Test func `nothing in an operation that listens, which hears all and is cancelled behind the checks`() async {
        let ends = Protected(0)
        let report = await explore("a feed") { run in
            let (elements, source) = AsyncStream.makeStream(of: Int.self)
            let heard = Protected<[Int]>([])
            run.operation("feed", listens: true) {
                for await element in elements { run.effect("hears") { heard.withLock { $0.append(element) } } }
                _ = ends.next()
                throw Refusal()
            }
            run.operation("source") { run.effect("sends") { _ = source.yield(1) } }
            run.invariant("all was heard") { heard.withLock { $0 } == [1] }
        }
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(ends.withLock { $0 } >= report.schedules, "\(report)")
    }

    @Test func `nothing in what the scenario has announced`() async {
        let report = await explore("a refusal and a cancellation") { run in
            let first = run.operation("first", mayThrow: true) { throw Refusal() }
            let second = run.operation("second") { try await run.clock.sleep(for: .seconds(1)) }
            run.step(cancelling: second)
            run.invariant("the first was refused") { first.error is Refusal && first.value == nil }
        }
        #expect(report.holds && report.isComplete, "\(report)")
    }
}
