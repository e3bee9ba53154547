import AccessTokenSynchronization
import Dispatch

/// Starts tasks one after the other: each when the one before has suspended for the first time.
///
/// The queue decides the order in which the tasks begin, and nothing else. A task that has suspended goes on in the
/// global pool of Dispatch, and so does an actor that the task calls: on the queue, that actor would wait behind other
/// tasks, with all its other callers.
struct OrderedStart: Sendable {
    private let queue = DispatchQueue(label: "CallbackServiceAdapter.order", qos: .userInitiated)

    /// Returns when the tasks before have begun, and those that are waited for have ended; or when the present task is
    /// cancelled, if that counts.
    nonisolated(nonsending) func tasksBefore(isCancellable: Bool) async {
        guard !EnclosingCall.isInside(of: queue) else { return }
        await untilCalled(isCancellable: isCancellable) { finish in startTask { finish(()) } }
    }

    /// Starts a task, which is inside the loads that the caller is inside (R1).
    ///
    /// All tasks have one priority: of two priorities, the higher one would overtake on its way to an actor. Before iOS
    /// 18, tasks may begin in any order. Only a call that is waited for is never overtaken.
    ///
    /// - Parameter isWaitedFor: whether later tasks begin only when this one has ended.
    @discardableResult
    func startTask(isWaitedFor: Bool = false, _ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
            let turn = Latch()
            queue.async { [queue] in
                if isWaitedFor { queue.suspend() }
                turn.fire()
            }
            return Task(priority: .high) {
                await withCheckedContinuation { continuation in turn.whenFired { continuation.resume() } }
                await run(operation, isWaitedFor)
            }
        }
        return Task(executorPreference: StartingExecutor(queue), priority: .high) { [queue] in
            // Here the task is on the queue still.
            if isWaitedFor { queue.suspend() }
            await run(operation, isWaitedFor)
        }
    }

    private func run(_ operation: @Sendable () async -> Void, _ isWaitedFor: Bool) async {
        guard isWaitedFor else { return await operation() }
        await EnclosingCall.make(operation, in: queue)
        queue.resume()
    }
}

/// Begins one task on a queue, and lets it go on in the global pool of Dispatch.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class StartingExecutor: TaskExecutor {
    private let queue: DispatchQueue
    private let hasBegun = Locked(false)

    init(_ queue: DispatchQueue) {
        self.queue = queue
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = hasBegun.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
        let queue = isFirst ? queue : .global(qos: .userInitiated)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
