import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import race_gallery

/// Claims of the articles that have no version in the gallery, on real threads.
///
/// Where the order is up to the scheduler, a test looks until it has seen the order that the claim rules out.
@Suite("What the articles claim", .eightAtATime, .timeLimit(.minutes(10)))
struct ClaimTests {
    @Test("version 2 of the authentication service has two loads at once, though none fails; the repair has one")
    func twoLoadsAtOnce() async throws {
        func mostAtOnce(_ make: (@escaping Load) -> any AuthService) async throws -> Int {
            let loads = LoadCounter { _ in await Task.yield() }
            let service = make { try await loads.load() }
            try await crowd(of: 4) {
                for _ in 1...50 { _ = try await service.bearerToken() }
            }
            return loads.counts.most
        }
        while try await mostAtOnce(AuthServiceVersion2.init) < 2 {}
        for _ in 1...20 { #expect(try await mostAtOnce(AuthServiceRepaired.init) == 1) }
    }

    private actor Journal {
        private(set) var lines: [String] = []

        func add(_ line: String) { lines.append(line) }

        func addAfterATask() {
            Task { add("the task") }
            add("the next line")
        }
    }

    @Test("of two calls by async let, the second may enter the actor first")
    func asyncLet() async {
        var lines: [String] = []
        while lines != ["second", "first"] {
            let journal = Journal()
            async let first: Void = journal.add("first")
            async let second: Void = journal.add("second")
            _ = await (first, second)
            lines = await journal.lines
        }
    }

    @Test("a task of an actor begins when the actor is free, and nobody has to await its value")
    func taskOfAnActor() async {
        for _ in 1...100 {
            let journal = Journal()
            await journal.addAfterATask()
            while await journal.lines.count < 2 { await Task.yield() }
            #expect(await journal.lines == ["the next line", "the task"])
        }
    }

    @Test("a task outside of an actor may begin before the line that follows it")
    func taskOutside() async {
        await withCheckedContinuation { isOver in
            // A thread of its own, which may wait: no task runs on it.
            Thread.detachNewThread {
                let begins = DispatchSemaphore(value: 0)
                Task { begins.signal() }
                begins.wait()
                isOver.resume()
            }
        }
    }

    private actor Counter {
        private(set) var count = 0

        func increment() {
            let seen = count
            count = seen + 1
        }
    }

    @Test("an actor runs one step at a time, whichever threads its executor takes")
    func oneStepAtATime() async throws {
        let counter = Counter()
        try await crowd(of: 100) {
            for _ in 1...100 { await counter.increment() }
        }
        #expect(await counter.count == 10_000)
    }

    /// Its method waits, and the other one comes in meanwhile.
    private actor Lane {
        private let executor: OneThread
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
        private(set) var steps: [String] = []
        private var waiter: CheckedContinuation<Void, Never>?

        init(on executor: OneThread) {
            self.executor = executor
        }

        func wait() async {
            steps.append("waits")
            Task { comeIn() }
            await withCheckedContinuation { waiter = $0 }
            steps.append("goes on")
        }

        private func comeIn() {
            steps.append("another comes in")
            waiter?.resume()
        }
    }

    @Test("an await frees the actor and takes no other thread: this actor has a single one")
    func oneThread() async {
        let executor = OneThread()
        let lane = Lane(on: executor)
        let steps = Task {
            await lane.wait()
            return await lane.steps
        }
        Thread.detachNewThread { executor.run() }
        #expect(await steps.value == ["waits", "another comes in", "goes on"])
        executor.stop()
    }

    @MainActor
    private final class MainActorWallet {
        private(set) var balance = 0

        func add(_ amount: Int, audit: Audit) async {
            let current = balance
            await audit()
            balance = current + amount
        }
    }

    @Test("the main actor loses a payment as well")
    @MainActor
    func mainActor() async {
        let wallet = MainActorWallet()
        let gate = Gate(after: 2)
        async let first: Void = wallet.add(50) { await gate.pass() }
        async let second: Void = wallet.add(50) { await gate.pass() }
        _ = await (first, second)
        #expect(wallet.balance == 50)
    }

    #if os(Linux) || os(macOS)
    @Test("two queues that call each other with sync never end: Dispatch sees it, and ends the program")
    func queuesThatCallBack() async {
        await #expect(processExitsWith: .failure) {
            let (session, store) = (DispatchQueue(label: "session"), DispatchQueue(label: "store"))
            session.sync { store.sync { session.sync {} } }
        }
    }
    #endif
}

/// Runs an actor on the thread that calls ``run()``, and on no other.
private final class OneThread: SerialExecutor {
    private let jobs = Mutex<[UnownedJob?]>([])
    private let comes = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        comes.signal()
    }

    /// Runs jobs until ``stop()``.
    func run() {
        while true {
            comes.wait()
            guard let job = jobs.withLock({ $0.removeFirst() }) else { return }
            unsafe job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }

    func stop() {
        jobs.withLock { $0.append(nil) }
        comes.signal()
    }
}

/// Calls from this many tasks at once, and returns when all have returned.
func crowd(of count: Int, _ call: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
        for _ in 1...count { group.addTask { try await call() } }
        try await group.waitForAll()
    }
}

/// Holds who waits until so many have come.
actor Gate {
    private var missing: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(after count: Int) {
        missing = count
    }

    func arrive() {
        missing -= 1
        guard missing == 0 else { return }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        if missing > 0 { await withCheckedContinuation { waiters.append($0) } }
    }

    func pass() async {
        arrive()
        await wait()
    }
}
