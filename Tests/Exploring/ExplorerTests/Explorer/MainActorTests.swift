import Dispatch
import InterleavingExplorer
import TestSupport
import Testing

@MainActor
private final class ViewModel: Sendable {
    private(set) var shown = ""
    private(set) var loads = 0

    nonisolated init() {}

    func show(_ text: String) {
        MainActor.assertIsolated()
        shown += text
    }

    func load(_ work: @Sendable () async -> Void) async {
        guard loads == 0 else { return }
        await work()
        loads += 1
    }

    func begin(_ text: String) -> Task<Void, Never> { Task { show(text) } }
}

#if os(Linux)
/// An object of a target whose default isolation is the main actor has such a deinit without saying so.
@MainActor
private final class Screen: Sendable {
    private let ends: Protected<Int>

    nonisolated init(countingEndsIn ends: Protected<Int>) { self.ends = ends }

    func show() {}

    // Apple's platforms have it from macOS 15.4 on.
    isolated deinit {
        MainActor.assertIsolated()
        _ = ends.next()
    }
}
#endif

@Suite("Code of the main actor", .takesTurnsToExplore, .endsHangs)
struct MainActorTests {
    @Test func `is explored: its calls come in each order, and so do tasks that begin there`() async {
        let orders = await allOutcomes { run in
            let model = ViewModel()
            run.operation("first") { await model.show("a") }
            run.operation("second") { await model.begin("b").value }
            run.operation("third") { await MainActor.run { model.show("c") } }
            return { await model.shown }
        }
        #expect(orders == ["abc", "acb", "bac", "bca", "cab", "cba"])
    }

    @Test func `is explored as well where a block of a dispatch queue starts it`() async {
        // With a dispatch queue there are many schedules.
        let explorer = Explorer(.exhaustive).with(\.maximumSchedules, 100)
        let (orders, report) = await outcomes(by: explorer) { run in
            let (queue, model) = (DispatchQueue(label: "subject"), ViewModel())
            run.control(queue)
            run.operation("first") {
                await withCheckedContinuation { continuation in
                    queue.async {
                        Task { @MainActor in
                            model.show("a")
                            continuation.resume()
                        }
                    }
                }
            }
            run.operation("second") { await model.show("b") }
            return { await model.shown }
        }
        #expect(report.holds && orders == ["ab", "ba"], "\(report)")
    }

    @Test(arguments: [false, true])
    func `may be cancelled behind a look, also in a task that begins there`(isChild: Bool) async {
        let orders = await allOutcomes { run in
            let cell = Cell()
            // A child has many more schedules with an actor than with a mark.
            let add = { @Sendable in
                if isChild { run.effect($0) {} } else { _ = await cell.add($0) }
            }
            let save: @MainActor @Sendable () async -> Void = {
                guard !Task.isCancelled else { return }
                await add("save ")
            }
            run.operation("signs out") {
                let task =
                    isChild
                    ? Task.detached { await withTaskGroup(of: Void.self) { $0.addTask(operation: save) } }
                    : Task { @MainActor in await save() }
                task.cancel()
                await add("clear ")
                // Nobody awaits a task with a child: there are many schedules without that.
                if !isChild { await task.value }
            }
            return { isChild ? run.effects.joined() : await cell.text }
        }
        #expect(orders == ["clear ", "save clear ", "clear save "])
    }

    #if os(Linux)
    /// In a process of its own, since a deinit elsewhere would end the process.
    @Test func `has ended with the run, where it is the deinit of what the setup has made`() async {
        await #expect(processExitsWith: .success) {
            let (made, ends) = (Protected(0), Protected(0))
            let report = await explore("a screen") { run in
                _ = made.next()
                let screen = Screen(countingEndsIn: ends)
                for name in ["first", "second"] { run.operation(name) { await screen.show() } }
                // It has the screen for longer than the operations.
                run.invariant("is shown") {
                    await screen.show()
                    return true
                }
            }
            #expect(report.holds && report.isComplete, "\(report)")
            #expect(ends.withLock { $0 } == made.withLock { $0 })
        }
    }
    #endif

    @Test func `lets others in at an await, as every actor does`() async {
        let report = await explore("two loads") { run in
            let model = ViewModel()
            for name in ["first", "second"] {
                run.operation(name) { await model.load { await run.pause("answer") } }
            }
            run.invariant("there is one load") { await model.loads == 1 }
        }
        #expect(report.failure?.kind == .brokenInvariant, "\(report)")
        #expect(report.failure?.trace.steps.contains { $0.participant == "main actor" } == true, "\(report)")
    }
}
