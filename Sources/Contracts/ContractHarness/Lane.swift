import AccessTokenSynchronization
import Dispatch

/// A thread for one caller's calls of the subject: a subject that blocks the thread stops no other caller.
///
/// A lane runs one thing at a time. When it is free again, the call has returned, or its task has suspended.
package final class Lane: Sendable {
    private let lane: LaneQueue
    private var queue: DispatchQueue { lane.queue }

    package init(_ name: String) {
        lane = LaneQueue(DispatchQueue(label: "AccessTokenContract.\(name)"))
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
            Task(executorPreference: QueueExecutor(lane), priority: priority) { await body() }
        } else {
            preconditionFailure("the contract is verified on systems that have task executors")
        }
    }

    /// Starts a task whose parts run where they are enqueued: the first one inside the code that starts the task.
    package static func startHere(_ body: @escaping @Sendable () async -> Void) {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            Task(executorPreference: QueueExecutor(nil)) { await body() }
        }
    }

    package func run(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    package var isHeld: Bool { lane.isHeld }

    /// Lets nothing begin or continue here until ``release()``.
    package func hold() { lane.hold() }

    /// Lets so many parts of tasks run here, and holds the lane then.
    ///
    /// - Parameter isHeld: called when the lane is held by that.
    package func hold(afterParts count: Int, then isHeld: @escaping @Sendable () -> Void) {
        lane.hold(afterParts: count, then: isHeld)
    }

    package func release() { lane.release() }
}

/// The queue of a lane.
///
/// Tasks keep the queue, and not the lane: a lane that nobody keeps any more lets them go on.
private final class LaneQueue: Sendable {
    private struct State {
        var isHeld = false
        /// The parts that may still run, and who is told when they have.
        var last: (parts: Int, isHeld: @Sendable () -> Void)?

        mutating func hold(_ queue: DispatchQueue) {
            if !isHeld { queue.suspend() }
            (isHeld, last) = (true, nil)
        }
    }

    let queue: DispatchQueue
    private let state = Locked(State())

    init(_ queue: DispatchQueue) { self.queue = queue }

    var isHeld: Bool { state.withLock { $0.isHeld } }

    func hold() {
        state.withLock { $0.hold(queue) }
    }

    func hold(afterParts count: Int, then isHeld: @escaping @Sendable () -> Void) {
        state.withLock { $0.last = (count, isHeld) }
    }

    func release() {
        state.withLock { state in
            if state.isHeld { queue.resume() }
            (state.isHeld, state.last) = (false, nil)
        }
    }

    /// A part of a task has run on the queue, and the next one has not begun.
    func partHasRun() {
        let isHeld = state.withLock { state -> (@Sendable () -> Void)? in
            guard let last = state.last else { return nil }
            guard last.parts == 1 else {
                state.last?.parts -= 1
                return nil
            }
            state.hold(queue)
            return last.isHeld
        }
        isHeld?()
    }
}

/// Runs each part of a task on a lane's queue, or, without a lane, on the thread that enqueues it.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class QueueExecutor: TaskExecutor {
    private let lane: LaneQueue?

    init(_ lane: LaneQueue?) { self.lane = lane }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard let lane else { return unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        lane.queue.async {
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
            lane.partHasRun()
        }
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
