import AccessTokenAdapters
import Dispatch

/// A thread for one caller's calls of the subject, so that a subject that blocks it stops nobody else.
///
/// A lane runs one thing at a time. When it is free again, the call has returned, or its task has suspended.
package final class Lane: TaskExecutor {
    private let queue: DispatchQueue
    private let isHeld = Locked(false)

    package init(_ name: String) {
        queue = DispatchQueue(label: "AccessTokenContract.\(name)")
    }

    deinit {
        // A queue must not be suspended when it is released.
        release()
    }

    /// Runs a part of a task.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    func run(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    /// Lets nothing begin or continue here until ``release()``.
    func hold() {
        isHeld.withLock { isHeld in
            if !isHeld { queue.suspend() }
            isHeld = true
        }
    }

    func release() {
        isHeld.withLock { isHeld in
            if isHeld { queue.resume() }
            isHeld = false
        }
    }
}

/// Runs each part of a task where it is enqueued: the first one inside the code that starts the task.
final class PresentThread: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
}

/// Lets several lanes begin at the same moment.
final class StartingLine: Sendable {
    private let missing: Locked<Int>
    private let start = DispatchSemaphore(value: 0)
    private let count: Int

    init(count: Int) {
        self.count = count
        missing = Locked(count)
    }

    /// Blocks until all lanes are here, but not for long, should the machine have no thread for one of them.
    func wait() {
        let isLast = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if isLast { for _ in 0..<count { start.signal() } }
        _ = start.wait(timeout: .now() + .milliseconds(50))
    }
}
