import InterleavingExplorer
import TestSupport
import Testing

/// Orders that real threads show, and that a search from suspension to suspension never would; the judge shows many
/// more.
@Suite("A step that is held in its middle", .takesTurnsToExplore, .serialized, .endsHangs)
struct PreemptionTests {
    @Test func `keeps the order in which values come to somebody who waits for them`() async {
        let orders = await allOutcomes { run in
            let journal = Journal()
            let (stream, continuation) = AsyncStream.makeStream(of: String.self)
            run.operation("reader") { for await name in stream.prefix(2) { journal.add(name) } }
            for name in ["a", "b"] { run.operation(name) { continuation.yield(name) } }
            return { journal.all.joined() }
        }
        #expect(orders == ["ab", "ba"])
    }

    @Test(arguments: ["step", "block", "timer"])
    func `is tried against whatever follows in code that may touch anything`(kind: String) async {
        let orders = await allOutcomes { run in
            let (journal, (stream, continuation)) = (Journal(), AsyncStream.makeStream(of: Void.self))
            run.operation("waiter") {
                for await _ in stream {}
                run.effect("waiter") { journal.add("w") }
            }
            let open = { @Sendable in
                continuation.finish()
                journal.add("o")
            }
            switch kind {
            case "step": run.step("opens", open)
            case "block": run.queue("queue").async("opens", execute: open)
            default: run.clock.schedule(after: .seconds(1), "opens", open)
            }
            return { journal.all.joined() }
        }
        #expect(orders == ["ow", "wo"])
    }

    /// Starts a task when its last reference goes.
    private final class Dying: Sendable {
        private let cell: Cell

        init(_ cell: Cell) { self.cell = cell }
        deinit { Task.detached { [cell] in _ = await cell.add("d") } }
    }

    @Test func `is tried against the end of an object where each release is marked`() async {
        let orders = await allOutcomes { run in
            let cell = Cell()
            let object = Dying(cell)
            for name in ["a", "b"] {
                let held = Protected<Dying?>(object)
                run.operation(name) {
                    run.effect("\(name) lets go") { _ = held.withLock { $0.take() } }
                    _ = await cell.add(name)
                }
            }
            return { await cell.text }
        }
        #expect(orders == ["abd", "adb", "bad", "bda", "dab", "dba"])
    }

    @Test func `is tried against what raises its priority where the search leaves nothing out`() async {
        let orders = await allOutcomes(by: Explorer(.exhaustive).with(\.reduces, false)) { run in
            let cell = Cell()
            run.operation("raises") {
                let low = Task(priority: .background) {
                    _ = await cell.add(Task.currentPriority == .high ? "H" : "l")
                }
                await Task(priority: .high) { await low.value }.value
            }
            return { await cell.text }
        }
        #expect(orders == ["l", "H"])
    }

    @Test(arguments: ["step", "block"])
    func `keeps nothing alive that another step had`(kind: String) async {
        let report = await explore("an answer that has the last reference") { run in
            let (isAnswered, last) = (Protected(false), WeakReference<Journal>(nil))
            run.operation("asks") {
                let object = Journal()
                last.object = object
                let answer = { @Sendable in
                    withExtendedLifetime(object) { isAnswered.withLock { $0 = true } }
                }
                if kind == "step" {
                    run.step("the answer comes", answer)
                } else {
                    run.queue("queue").async("the answer comes", execute: answer)
                }
            }
            run.step("something else") {
                for _ in 0..<2 { run.effect("another") }
            }
            run.always("what has been answered is gone at the end of its step") {
                !isAnswered.withLock { $0 } || last.object == nil
            }
        }
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(report.schedules > 1, "the other step is held meanwhile")
    }
}
