import AccessTokenCore
import Dispatch

/// A thread for one caller's calls of the subject: a subject that blocks the thread stops no other caller.
///
/// A lane runs one thing at a time. When it is free again, the call has returned, or its task has suspended.
package final class Lane: Sendable {
    private let queue: DispatchQueue
    private let isHeld = Locked(false)

    package init(_ name: String) {
        queue = DispatchQueue(label: "AccessTokenContract.\(name)")
    }

    deinit {
        // A queue must not be suspended when it is released.
        release()
    }

    /// Starts a task whose parts run here.
    @discardableResult
    package func start<Value: Sendable>(
        priority: TaskPriority? = nil,
        _ body: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            Task(executorPreference: QueueExecutor(queue: queue), priority: priority) { await body() }
        } else {
            preconditionFailure("the contract is verified on systems that have task executors")
        }
    }

    /// Starts a task whose parts run where they are enqueued: the first one inside the code that starts the task.
    package static func startHere(_ body: @escaping @Sendable () async -> Void) {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            Task(executorPreference: QueueExecutor(queue: nil)) { await body() }
        }
    }

    package func run(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    /// Lets nothing begin or continue here until ``release()``.
    package func hold() {
        isHeld.withLock { isHeld in
            if !isHeld { queue.suspend() }
            isHeld = true
        }
    }

    /// Holds the lane after so many turns, and says so; in a turn all runs that stands here when the turn begins, which
    /// is at most one part of a task that has the lane to itself.
    package func hold(afterTurns count: Int, then isHeld: @escaping @Sendable () -> Void) {
        run { [self] in
            if count > 1 { return hold(afterTurns: count - 1, then: isHeld) }
            hold()
            isHeld()
        }
    }

    package func release() {
        isHeld.withLock { isHeld in
            if isHeld { queue.resume() }
            isHeld = false
        }
    }
}

/// Runs each part of a task on a queue, or, without a queue, on the thread that enqueues it.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class QueueExecutor: TaskExecutor {
    private let queue: DispatchQueue?

    init(queue: DispatchQueue?) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard let queue else { return unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Lets several lanes begin at the same moment.
package final class StartingLine: Sendable {
    private let missing: Locked<Int>
    private let start = DispatchSemaphore(value: 0)
    private let count: Int

    package init(count: Int) {
        self.count = count
        missing = Locked(count)
    }

    /// Blocks until all lanes are here, but not for long, should the machine have no thread for one of them.
    package func wait() {
        let isLast = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if isLast { for _ in 0..<count { start.signal() } }
        _ = start.wait(timeout: .now() + .milliseconds(50))
    }
}
