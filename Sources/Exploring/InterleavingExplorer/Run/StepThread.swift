import Dispatch
import Synchronization

/// A thread on which steps run while others are held.
///
/// Only one thread of an exploration runs at any time. It hands the right to run to the next one.
@available(Executors, *)
final class StepThread: Sendable {
    enum Order: Sendable {
        /// Run this candidate, and what comes after it.
        case run(Scheduler, Candidate)
        /// Go on behind the point at which you are held, or return from the run.
        case goOn
        /// The exploration is over.
        case end
    }

    private let order = Protected<Order?>(nil)
    private let signal = DispatchSemaphore(value: 0)
    private let system: Protected<SystemThread?>
    /// An address in the stack frame of what called the step that runs on this thread.
    let stepBase = Atomic<UInt>(0)

    fileprivate init(_ system: SystemThread? = nil) {
        self.system = Protected(system)
    }

    /// Says that the calling thread is meant.
    fileprivate func bindToCallingThread() {
        system.withLock { $0 = SystemThread() }
    }

    /// What the thread does at this moment; `nil` if that cannot be told.
    var activity: SystemThread.Activity? {
        system.withLock { $0 }?.activity
    }

    func hand(_ order: Order) {
        self.order.withLock { $0 = order }
        signal.signal()
    }

    func waitForOrder() -> Order {
        signal.wait()
        return takeOrder()
    }

    /// Waits for the next order, and asks now and then whether there is a reason not to wait any longer.
    ///
    /// - Returns: Whether there was one, and no order has come.
    func waitForOrder(orUntil isEnough: () -> Bool) -> Bool {
        while signal.wait(timeout: .now() + .milliseconds(5)) == .timedOut {
            if isEnough() { return true }
        }
        _ = takeOrder()
        return false
    }

    private func takeOrder() -> Order {
        order.withLock { $0.take() } ?? .end
    }
}

/// The threads of an exploration: its own, and those on which no step is held.
@available(Executors, *)
final class StepThreads: Sendable {
    private let idle = Protected<[StepThread]>([])
    private let own = Protected<SystemThread?>(nil)

    /// The calling thread, for one run; it is the same for all runs of an exploration.
    func ofExploration() -> StepThread {
        own.withLock { own in
            // It is dear to find out.
            let system = own ?? SystemThread()
            own = system
            return StepThread(system)
        }
    }

    /// Lets an idle thread, or a new one, run a candidate.
    func run(_ candidate: Candidate, for scheduler: Scheduler) {
        let known = idle.withLock { $0.popLast() }
        let thread = known ?? StepThread()
        scheduler.willRun(on: thread)
        thread.hand(.run(scheduler, candidate))
        guard known == nil else { return }
        // A serial queue has a thread even if the subjects keep all those of the global queues busy.
        DispatchQueue(label: "InterleavingExplorer step").async {
            thread.bindToCallingThread()
            CrashHandler.watching {
                while case .run(let scheduler, let candidate) = thread.waitForOrder() {
                    ActiveRuns.joining(scheduler.run) {
                        scheduler.execute(candidate)
                        scheduler.loop(on: thread)
                    }
                }
            }
        }
    }

    func add(_ thread: StepThread) {
        idle.withLock { $0.append(thread) }
    }

    /// Ends all of them; no step is held any more.
    func end() {
        while let thread = idle.withLock({ $0.popLast() }) { thread.hand(.end) }
    }
}

/// What the threads of an exploration tell each other while one of them runs.
@available(Executors, *)
final class Progress: Sendable {
    /// How many segments have ended: whether anything goes on can be seen from any thread.
    let segments = Atomic<Int>(0)
    /// Whether the running thread waits for something by the explorer's own will.
    let isWaiting = Atomic<Bool>(false)
    /// Whether the caller has been told something: a search that still runs is to end.
    let isTold = Atomic<Bool>(false)

    func waiting<Result>(_ body: () -> Result) -> Result {
        isWaiting.store(true, ordering: .sequentiallyConsistent)
        defer { isWaiting.store(false, ordering: .sequentiallyConsistent) }
        return body()
    }
}
