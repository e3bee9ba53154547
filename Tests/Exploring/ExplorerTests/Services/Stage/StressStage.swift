import AccessTokenCore
import AccessTokenGCD
import Dispatch
import Foundation

/// Threads and the task pool, as they come; what a stress test has.
///
/// It knows when nothing can happen any more, and no test waits by the clock for a lost waiter.
final class StressStage: Stage {
    private let pool = CountingExecutor()
    private let timers = Locked<[Int: @Sendable () -> Void]>([:])
    private let lastTimer = Locked(0)
    /// Keeps what is written down out of what is done in one piece, but for what is written in there.
    private let onePiece = NSRecursiveLock()

    var executor: any TaskExecutor { pool }
    var clock: any AccessTokenClock { IdleClock(stage: self) }

    func queue(_ name: String) -> any SerialQueue {
        DispatchQueue(label: name)
    }

    func dispatchQueue(_ name: String, target: DispatchQueue?) -> DispatchQueue {
        DispatchQueue(label: name, target: target)
    }

    func notice(_ text: String, writing: () -> Void) {
        onePiece.withLock(writing)
    }

    func notice<Result>(_ text: String, _ body: () -> Result) -> Result {
        onePiece.withLock(body)
    }

    nonisolated(nonsending) func pause(_ name: String) async {
        pool.activity.enter()
        await jitter()
        pool.activity.leave()
    }

    func step(_ name: String, _ action: @escaping @Sendable () -> Void) {
        Task(executorPreference: pool) {
            await self.jitter()
            action()
        }
    }

    func part(_ name: String, isCancelled: Bool, _ body: @escaping @Sendable () async -> Void) {
        let task = Task(executorPreference: pool) {
            await self.jitter()
            await body()
        }
        if isCancelled { step("cancels \(name)") { task.cancel() } }
    }

    /// Waits until nothing happens any more, and all timers have fired.
    ///
    /// - Parameter isOver: whether every part has ended: timers that are left need not fire then.
    func settle(isOver: @escaping @Sendable () -> Bool) async {
        repeat {
            // What a service does in plain tasks is not counted: let the pool come to an end with those.
            for _ in 0..<3 {
                await idle()
                if isOver() { return }
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 { group.addTask(priority: .background) { await Task.yield() } }
                }
            }
        } while fireTimer()
        // What a service does outside of the stage's executor is waited for until it shows, or for long enough.
        let end = ContinuousClock.now + .seconds(20)
        while !isOver(), ContinuousClock.now < end {
            try? await Task.sleep(for: .milliseconds(1))
            _ = fireTimer()
        }
    }

    /// Without it everything happens in the order in which it was started, or nearly so.
    private nonisolated(nonsending) func jitter() async {
        for _ in 0..<Int.random(in: 0...12) { await Task.yield() }
    }

    private func idle() async {
        await withCheckedContinuation { continuation in
            pool.activity.notify(queue: .global()) { continuation.resume() }
        }
    }

    private func fireTimer() -> Bool {
        let timer = timers.withLock { timers in timers.keys.min().flatMap { timers.removeValue(forKey: $0) } }
        timer?()
        return timer != nil
    }

    /// A clock whose timers fire when nothing else happens: a deadline is far away.
    private struct IdleClock: AccessTokenClock {
        let stage: StressStage

        var now: Date { Date(timeIntervalSince1970: 1_800_000_000) }

        func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
            let number = stage.lastTimer.withLock { last in
                last += 1
                return last
            }
            stage.timers.withLock { $0[number] = action }
            return AccessTokenTimer { [stage] in _ = stage.timers.withLock { $0.removeValue(forKey: number) } }
        }
    }
}

/// Runs jobs on the global queue, and counts them.
private final class CountingExecutor: TaskExecutor {
    let activity = DispatchGroup()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        DispatchQueue.global().async(group: activity) {
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
