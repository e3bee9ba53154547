import Dispatch
import Foundation
import InterleavingExplorer
import TestSupport
import Testing

/// Orders that real threads show, and that a search from suspension to suspension never would.
@Suite("A step that is held in its middle", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct PreemptionTests {
    private actor Journal {
        private(set) var names: [String] = []

        func add(_ name: String) {
            names.append(name)
        }
    }

    /// All orders in which names come to the journal of a scenario with one operation.
    private func orders(
        preempts: Bool = true,
        _ body: @escaping @Sendable (ScenarioRun, @escaping @Sendable (String) async -> Void) async -> Void
    ) async -> Set<String> {
        let seen = Shared<Set<String>>([])
        var explorer = Explorer()
        explorer.preempts = preempts
        let report = await explorer.explore(
            Scenario("orders") { run in
                let journal = Journal()
                run.operation("parent") { await body(run) { await journal.add($0) } }
                run.invariant("is collected") {
                    let names = await journal.names.joined()
                    seen.withLock { _ = $0.insert(names) }
                    return true
                }
            }
        )
        #expect(report.holds && report.isComplete, "\(report)")
        return seen.withLock { $0 }
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

    @Test("lets a child task go first")
    func childTask() async {
        let orders = await orders { _, add in
            async let child: Void = add("c")
            await add("p")
            await child
        }
        #expect(orders == ["cp", "pc"])
    }

    @Test("lets the children of a group go in any order")
    func groupChildren() async {
        let orders = await orders { _, add in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await add("a") }
                group.addTask { await add("b") }
                await add("p")
            }
        }
        #expect(orders == ["abp", "apb", "bap", "bpa", "pab", "pba"])
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

    @Test("comes between two calls of a plain task, whichever actors they reach")
    func plainTasks() async {
        let orders = await orders { _, add in
            let tasks = ["a", "b"].map { name in
                Task {
                    await add(name)
                    await add(name)
                }
            }
            for task in tasks { await task.value }
        }
        #expect(orders == ["aabb", "abab", "abba", "baab", "baba", "bbaa"])
    }

    @Test("shows the order of a mark and what comes behind it; nothing comes inside of a mark")
    func marks() async {
        let seen = Shared<Set<String>>([])
        let report = await Explorer().explore(
            Scenario("tickets") { run in
                let (ticket, journal) = (Shared(0), Journal())
                for _ in 1...2 {
                    run.operation("customer") {
                        let number = run.effect("takes a ticket") {
                            let number = ticket.withLock { $0 }
                            ticket.withLock { $0 = number + 1 }
                            return number
                        }
                        await journal.add("\(number)")
                    }
                }
                run.invariant("is collected") {
                    let names = await journal.names.joined()
                    seen.withLock { _ = $0.insert(names) }
                    return true
                }
            }
        )
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(seen.withLock { $0 } == ["01", "10"])
    }

    @Test("keeps a step that others ignore from hiding an order: the deposit and the interest")
    func ignoring() async {
        let scenario = Scenario("deposit and interest") { run in
            let account = Balance()
            run.operation("op") {
                let first = Task.detached { await deposit(account) }
                let silent = Task(executorPreference: run.executor) {}
                _ = await peek(account)
                await silent.value
                let second = Task.detached { await interest(account) }
                await first.value
                await second.value
            }
            run.invariant("the balance is 101") { await account.value == 101 }
        }
        #expect(await Explorer().explore(scenario).failure?.kind == .brokenInvariant)
        var explorer = Explorer()
        explorer.preempts = false
        #expect(await explorer.explore(scenario).failure?.kind == .brokenInvariant)
    }
}

extension PreemptionTests {
    private final class Farewell: Sendable {
        private let isGone: Shared<Bool>

        init(_ isGone: Shared<Bool>) { self.isGone = isGone }
        deinit { isGone.withLock { $0 = true } }
    }

    /// Has a reference until it is told to let it go.
    private actor Holder {
        private var object: Dying?
        private let journal: Journal

        init(_ object: Dying, _ journal: Journal) {
            self.object = object
            self.journal = journal
        }

        func letGo(in run: ScenarioRun, as name: String) async {
            run.effect("\(name) lets go") { object = nil }
            await journal.add(name)
        }
    }

    /// Starts a task when its last reference goes.
    private final class Dying: Sendable {
        private let journal: Journal

        init(_ journal: Journal) { self.journal = journal }
        deinit { Task.detached { [journal] in await journal.add("d") } }
    }

    @Test("is tried against the end of an object where each release is marked")
    func markedReleases() async {
        let seen = Shared<Set<String>>([])
        let report = await Explorer().explore(
            Scenario("two references") { run in
                let journal = Journal()
                let object = Dying(journal)
                for name in ["a", "b"] {
                    let holder = Holder(object, journal)
                    run.operation(name) { await holder.letGo(in: run, as: name) }
                }
                run.invariant("is collected") {
                    let names = await journal.names.joined()
                    seen.withLock { _ = $0.insert(names) }
                    return true
                }
            }
        )
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(seen.withLock { $0 } == ["abd", "adb", "bad", "bda", "dab", "dba"])
    }

    @Test("is tried against what raises its priority where the search has no reductions")
    func escalation() async {
        let seen = Shared<Set<String>>([])
        var explorer = Explorer()
        explorer.reductions = []
        let report = await explorer.explore(
            Scenario("a priority that is raised") { run in
                let journal = Journal()
                run.operation("raises") {
                    let low = Task(priority: .background) {
                        for _ in 0..<2 { await journal.add(Task.currentPriority == .high ? "H" : "l") }
                    }
                    await Task(priority: .high) { await low.value }.value
                }
                run.invariant("is collected") {
                    let names = await journal.names.joined()
                    seen.withLock { _ = $0.insert(names) }
                    return true
                }
            }
        )
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(seen.withLock { $0 } == ["ll", "lH", "HH"])
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

private actor Balance {
    private(set) var value = 0

    func add(_ amount: Int) {
        value += amount
    }

    func set(_ value: Int) {
        self.value = value
    }
}

private func deposit(_ account: Balance) async {
    for amount in [100] { await account.add(amount) }
}

private func interest(_ account: Balance) async {
    var before = 0
    for step in 0..<2 {
        if step == 0 { before = await account.value } else { await account.set(before + 1) }
    }
}

private func peek(_ account: Balance) async -> Int {
    var sum = 0
    for _ in [0] { sum += await account.value }
    return sum
}
