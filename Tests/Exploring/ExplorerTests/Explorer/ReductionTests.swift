import InterleavingExplorer
import TestSupport
import Testing

/// The reductions must lose no outcome: the judge shows that for tasks, actors and marks, this suite for the run's own parts.
@Suite("The reductions", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct ReductionTests {
    private func compare(_ expected: Set<String>, _ script: @escaping @Sendable (ScenarioRun, Journal) -> Void) async {
        let seen = await allOutcomes { run in
            let journal = Journal()
            script(run, journal)
            return { journal.all.joined(separator: ", ") }
        }
        #expect(seen == expected)
    }

    @Test("keep the order in which values come to somebody who waits for them")
    func streams() async {
        await compare(["a, b", "b, a"]) { run, journal in
            let (stream, continuation) = AsyncStream.makeStream(of: String.self)
            run.operation("reader") {
                for await name in stream.prefix(2) { journal.add(name) }
            }
            run.operation("a") { continuation.yield("a") }
            run.operation("b") { continuation.yield("b") }
        }
    }

    @Test("keep the order of marked effects, of timers, and of blocks on a queue")
    func effects() async {
        await compare(["before", "after"]) { run, journal in
            run.operation("a") { try await run.clock.sleep(for: .seconds(1)) }
            run.operation("b") { journal.add(run.clock.now.offset == .zero ? "before" : "after") }
        }
        await compare(["a, b", "b, a"]) { run, journal in
            let queue = run.queue("queue")
            run.operation("a") { queue.async { journal.add("a") } }
            run.operation("b") { queue.async { journal.add("b") } }
        }
    }

    @Test("keep every moment at which an operation, and its child, can be cancelled")
    func cancellations() async {
        await compare(["false, false", "false, true", "true, true"]) { run, journal in
            let operation = run.operation("a") {
                async let child: [Bool] = {
                    var seen = [Task.isCancelled]
                    await Task.yield()
                    seen.append(Task.isCancelled)
                    return seen
                }()
                for isCancelled in await child { journal.add("\(isCancelled)") }
            }
            run.operation("b") {}
            run.step(cancelling: operation)
        }
    }

    @Test("keep the moments at which a timer is set or cancelled, and the clock moved")
    func clock() async {
        await compare(["", "fires"]) { run, journal in
            let timer = run.clock.schedule(after: .seconds(1)) { journal.add("fires") }
            run.operation("a") { timer.cancel() }
            run.operation("b") { await run.pause("b") }
        }
        await compare(["0", "10"]) { run, journal in
            run.operation("a") { run.clock.advance(by: .seconds(10)) }
            run.operation("b") { journal.add("\(run.clock.now.offset.components.seconds)") }
        }
    }

    @Test("are none where none are wanted: steps that do nothing are tried in every order", arguments: [true, false])
    func none(reduces: Bool) async {
        var explorer = Explorer()
        explorer.reduces = reduces
        let report = await explorer.explore(
            Scenario("silence") { run in
                for name in ["a", "b", "c"] { run.operation(name) {} }
            }
        )
        #expect(report.holds && report.isComplete)
        #expect(report.schedules == (reduces ? 1 : 6))
        #expect(report.remarks.contains { $0.hasPrefix("Nothing shared was seen") } == reduces, "\(report)")
    }
}
