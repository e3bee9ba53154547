import Dispatch
import InterleavingExplorer
import TestSupport
import Testing

/// What a service does on queues, the services' own tests explore.
@Suite("A queue", .takesTurnsToExplore, .serialized, .endsHangs)
struct ControlledQueueTests {
    @Test func `of Dispatch lets in other steps between a block and the one that it adds, or none`() async {
        let orders = await allOutcomes { run in
            let queue = DispatchQueue(label: "subject")
            run.control(queue)
            queue.async {
                run.effect("1")
                queue.async { run.effect("2") }
            }
            run.step("something else") { run.effect("x") }
            return { run.effects.joined() }
        }
        #expect(orders == ["12x", "1x2", "x12"])
    }

    @Test
    func `of Dispatch is drained as long as blocks add blocks, also for a preparation, and beside another one`() async {
        let report = await explore("silent chains", by: Explorer().with(\.maximumSchedules, 40)) { run in
            let (first, second) = (DispatchQueue(label: "first"), DispatchQueue(label: "second"))
            run.control(first, "first")
            run.control(second, "second")
            @Sendable func answer(_ queue: DispatchQueue) async {
                await withCheckedContinuation { continuation in
                    queue.async { queue.async { queue.async { queue.async { continuation.resume() } } } }
                }
            }
            try run.prepare { await answer(second) }
            run.operation("caller") {
                await answer(first)
                await answer(second)
            }
        }
        #expect(report.holds, "\(report)")
    }

    @Test
    func `runs its blocks one at a time, in the order in which they came, and knows whether one of them runs`() async {
        let report = await explore("blocks") { run in
            let (queue, journal) = (run.queue("queue"), Journal())
            queue.async {
                journal.add("1")
                queue.async { journal.add("3") }
            }
            queue.async { journal.add(queue.isCurrent ? "2" : "outside") }
            run.step("something else") { if queue.isCurrent { journal.add("inside") } }
            run.invariant("in order") { journal.all == ["1", "2", "3"] }
        }
        #expect(report.holds && report.isComplete, "\(report)")
        // The step comes before, between or behind the blocks, or where a block adds another one.
        #expect(report.schedules == 5, "each block is offered once, also the one that another one adds")
    }

    @Test func `knows that none of its blocks runs where another step runs while one is held`() async {
        let places = await allOutcomes { run in
            let (first, second) = (run.queue("first"), run.queue("second"))
            let look = { @Sendable in run.effect(first.isCurrent ? "inside" : "outside") {} }
            first.async {
                second.async {}
                look()
            }
            run.operation("other") { look() }
            return { run.effects.joined(separator: " ") }
        }
        #expect(places == ["inside outside", "outside inside"])
    }

    @Test func `can carry an actor that has an executor of its own, and starts a task for itself`() async {
        let orders = await allOutcomes { run in
            let queue = run.queue("queue")
            let pinned = Pinned(queue)
            queue.async { pinned.assumeIsolated { $0.add(".") } }
            run.operation("start") { await pinned.start() }
            run.operation("other") { await pinned.add("o") }
            run.permitUnfinishedTasks()
            return { await pinned.log }
        }
        #expect(orders == [".ot", ".to"])
    }
}
