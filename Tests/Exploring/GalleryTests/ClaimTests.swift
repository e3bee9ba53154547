import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import race_gallery

/// Claims of the articles that have no version in the gallery, on real threads.
///
/// Where the order is up to an executor, the test brings an executor that takes the order that the claim rules out.
@Suite("What the articles claim", .takesTurnsToExplore, .endsHangs)
struct ClaimTests {
    /// Two callers share load 1, and one of them goes on late: when load 2 has begun, for a caller that asked again.
    private struct LateCaller {
        let service: any AuthService
        let loads: LoadCounter
        let hasBegun: [Event]
        let mayEnd: [Event]
        let second: Task<Int, any Error>

        init(_ make: (@escaping Load) -> any AuthService) async throws {
            let (hasBegun, mayEnd) = ((1...3).map { _ in Event() }, (1...3).map { _ in Event() })
            let loads = LoadCounter { number in
                hasBegun[number - 1].happen()
                await mayEnd[number - 1].wait()
            }
            let service = make { try await loads.load() }
            (self.service, self.loads, self.hasBegun, self.mayEnd) = (service, loads, hasBegun, mayEnd)
            let early = Task { try await service.bearerToken() }
            await hasBegun[0].wait()
            let late = HeldCaller(of: service)
            await late.asks()
            mayEnd[0].happen()
            _ = try await early.valueInTime
            second = Task { try await service.bearerToken() }
            await hasBegun[1].wait()
            await late.goesOn()
        }

        func endLoads() {
            for load in mayEnd { load.happen() }
        }
    }

    /// A caller that takes its steps when a test says so.
    private struct HeldCaller {
        let token: Task<Int, any Error>
        private let queue: HeldQueue
        private let hasEnded: Event

        init(of service: any AuthService) {
            let (queue, hasEnded) = (HeldQueue(), Event())
            (self.queue, self.hasEnded) = (queue, hasEnded)
            token = Task(executorPreference: HeldExecutor(queue: queue)) {
                defer { hasEnded.happen() }
                return try await service.bearerToken()
            }
        }

        /// Runs the caller until it waits for a load.
        func asks() async {
            await yieldUntil { queue.count > 0 }
            queue.run()
        }

        /// Runs the caller to its end.
        func goesOn() async {
            await yieldUntil {
                queue.run()
                return hasEnded.hasHappened
            }
        }
    }

    @Test func `version 2 of the authentication service starts a load beside another one, though none fails`()
        async throws
    {
        let late = try await LateCaller(AuthServiceVersion2.init)
        let third = Task { try await late.service.bearerToken() }
        await late.hasBegun[2].wait()
        #expect(late.loads.counts.most == 2)
        late.endLoads()
        _ = await (late.second.result, third.result)
    }

    @Test func `its repair lets the next caller join the load that is running`() async throws {
        let late = try await LateCaller(AuthServiceRepaired.init)
        let third = HeldCaller(of: late.service)
        await third.asks()
        late.endLoads()
        await third.goesOn()
        #expect(try await third.token.valueInTime == 2, "the number of the load")
        _ = await late.second.result
    }

    private actor Journal {
        private(set) var lines: [String] = []

        func add(_ line: String) { lines.append(line) }

        func addAfterATask() {
            Task { add("the task") }
            add("the next line")
        }

        /// Both messages are in line when the actor is free again.
        func addLowThenHigh() {
            Task(priority: .low) { add("low, sent first") }
            Task(priority: .high) { add("high, sent second") }
        }
    }

    @Test func `of two calls by async let, the second may enter the actor first`() async {
        let (executor, journal) = (NewestFirst(), Journal())
        Thread.detachNewThread { executor.run() }
        await withTaskExecutorPreference(executor) {
            async let first: Void = journal.add("first")
            async let second: Void = journal.add("second")
            _ = await (first, second)
        }
        executor.stop()
        #expect(await journal.lines == ["second", "first"])
    }

    @Test func `a task of an actor begins when the actor is free, and nobody has to await its value`() async {
        for _ in 1...100 {
            let journal = Journal()
            await journal.addAfterATask()
            while await journal.lines.count < 2 { await Task.yield() }
            #expect(await journal.lines == ["the next line", "the task"])
        }
    }

    @Test
    func `an actor takes its messages one at a time, and not in the order in which they came: by their priority`() async
    {
        for _ in 1...100 {
            let journal = Journal()
            await journal.addLowThenHigh()
            while await journal.lines.count < 2 { await Task.yield() }
            #expect(await journal.lines == ["high, sent second", "low, sent first"])
        }
    }

    @Test
    func `a continuation is the rest of one task, and no queue: it is resumed once, and runs nothing else`() async {
        let journal = Journal()
        let (resumed, isResumed) = AsyncStream.makeStream(of: CheckedContinuation<Void, Never>.self)
        let task = Task {
            await journal.add("before")
            await withCheckedContinuation { isResumed.yield($0) }
            await journal.add("after")
        }
        for await continuation in resumed.prefix(1) {
            #expect(await journal.lines == ["before"])
            continuation.resume()
        }
        await task.value
        #expect(await journal.lines == ["before", "after"])
    }

    @Test func `a task outside of an actor may begin before the line that follows it`() async {
        let nextLine = Event()
        // A thread of its own, which may wait: no task runs on it.
        Thread.detachNewThread {
            let begins = DispatchSemaphore(value: 0)
            Task { begins.signal() }
            begins.wait()
            nextLine.happen()
        }
        await nextLine.wait()
    }

    private actor Counter {
        private(set) var count = 0

        func increment() {
            let seen = count
            count = seen + 1
        }
    }

    @Test func `an actor runs one step at a time, whichever threads its executor takes`() async throws {
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

    @Test func `an await frees the actor and takes no other thread: this actor has a single one`() async {
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

    @Test @MainActor func `the main actor loses a payment as well`() async {
        let wallet = MainActorWallet()
        let gate = Gate(after: 2)
        async let first: Void = wallet.add(50) { await gate.pass() }
        async let second: Void = wallet.add(50) { await gate.pass() }
        _ = await (first, second)
        #expect(wallet.balance == 50)
    }

    #if os(Linux) || os(macOS)
    @Test func `two queues that call each other with sync never end: Dispatch sees it, and ends the program`() async {
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

/// Runs the job that came last first, on the thread that calls ``run()``.
private final class NewestFirst: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let isStopped = Mutex(false)
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
            if let job = jobs.withLock({ $0.popLast() }) {
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            } else if isStopped.withLock({ $0 }) {
                return
            }
        }
    }

    /// Not inlined: on Linux, a lock in an async function may look at another thread's identity after an `await`.
    @inline(never)
    func stop() {
        isStopped.withLock { $0 = true }
        comes.signal()
    }
}

/// Runs the jobs of tasks when a test says so.
private final class HeldExecutor: TaskExecutor {
    private let queue: HeldQueue

    init(queue: HeldQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.enqueue { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
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
