import InterleavingExplorer
import TestSupport
import Testing

/// Orders that real threads show, and that a search from suspension to suspension never would; the judge shows many more.
@Suite("A step that is held in its middle", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct PreemptionTests {
    /// All orders in which names come to the actor of a scenario with one operation.
    private func orders(
        preempts: Bool = true,
        _ body: @escaping @Sendable (ScenarioRun, @escaping @Sendable (String) async -> Void) async -> Void
    ) async -> Set<String> {
        var explorer = Explorer()
        explorer.preempts = preempts
        return await allOutcomes(by: explorer) { run in
            let cell = Cell()
            run.operation("parent") { await body(run) { _ = await cell.add($0) } }
            return { await cell.text }
        }
    }

    @Test("lets a task that was just started enter an actor first", arguments: [true, false])
    func startedTask(preempts: Bool) async {
        let orders = await orders(preempts: preempts) { _, add in
            let task = Task { await add("c") }
            await add("p")
            await task.value
        }
        #expect(orders == (preempts ? ["cp", "pc"] : ["pc"]))
    }

    @Test("lets a task that was just resumed go first")
    func resumedTask() async {
        let orders = await orders { run, add in
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            let waiter = Task(executorPreference: run.executor) {
                for await _ in stream.prefix(1) {}
                await add("w")
            }
            await run.pause("until the waiter waits")
            run.effect("yield") { _ = continuation.yield() }
            await add("p")
            await waiter.value
        }
        #expect(orders == ["wp", "pw"])
    }

    @Test("shows the order of a mark and what comes behind it; nothing comes inside of a mark")
    func marks() async {
        let orders = await allOutcomes { run in
            let (ticket, cell) = (Shared(0), Cell())
            for _ in 1...2 {
                run.operation("customer") {
                    let number = run.effect("takes a ticket") {
                        let number = ticket.withLock { $0 }
                        ticket.withLock { $0 = number + 1 }
                        return number
                    }
                    _ = await cell.add("\(number)")
                }
            }
            return { await cell.text }
        }
        #expect(orders == ["01", "10"])
    }

    /// Has a reference until it is told to let it go.
    private actor Holder {
        private var object: Dying?
        private let cell: Cell

        init(_ object: Dying, _ cell: Cell) {
            self.object = object
            self.cell = cell
        }

        func letGo(in run: ScenarioRun, as name: String) async {
            run.effect("\(name) lets go") { object = nil }
            _ = await cell.add(name)
        }
    }

    /// Starts a task when its last reference goes.
    private final class Dying: Sendable {
        private let cell: Cell

        init(_ cell: Cell) { self.cell = cell }
        deinit { Task.detached { [cell] in _ = await cell.add("d") } }
    }

    @Test("is tried against the end of an object where each release is marked")
    func markedReleases() async {
        let orders = await allOutcomes { run in
            let cell = Cell()
            let object = Dying(cell)
            for name in ["a", "b"] {
                let holder = Holder(object, cell)
                run.operation(name) { await holder.letGo(in: run, as: name) }
            }
            return { await cell.text }
        }
        #expect(orders == ["abd", "adb", "bad", "bda", "dab", "dba"])
    }

    @Test("is tried against what raises its priority where the search leaves nothing out")
    func escalation() async {
        var explorer = Explorer(.exhaustive)
        explorer.reduces = false
        let orders = await allOutcomes(by: explorer) { run in
            let cell = Cell()
            run.operation("raises") {
                let low = Task(priority: .background) {
                    for _ in 0..<2 { _ = await cell.add(Task.currentPriority == .high ? "H" : "l") }
                }
                await Task(priority: .high) { await low.value }.value
            }
            return { await cell.text }
        }
        #expect(orders == ["ll", "lH", "HH"])
    }

    private final class Farewell: Sendable {
        private let isGone: Shared<Bool>

        init(_ isGone: Shared<Bool>) { self.isGone = isGone }
        deinit { isGone.withLock { $0 = true } }
    }

    @Test("keeps nothing alive that another step had", arguments: ["step", "block"])
    func lastReference(kind: String) async {
        let report = await Explorer().explore(
            Scenario("an answer that has the last reference") { run in
                let (isAnswered, isGone) = (Shared(false), Shared(false))
                run.operation("asks") {
                    let object = Farewell(isGone)
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
                    isAnswered.withLock { $0 } == isGone.withLock { $0 }
                }
            }
        )
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(report.schedules > 1, "the other step is held meanwhile")
    }
}
