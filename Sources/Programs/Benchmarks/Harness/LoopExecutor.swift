import AccessTokenSynchronization

/// Runs tasks on the thread that drains it, and nowhere else: one thread, no wake-ups, hardly any noise.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class LoopExecutor: TaskExecutor {
    private let jobs = Locked<[UnownedJob]>([])
    private let capacity: Int

    /// - Parameter capacity: room made in advance, which must not count as a waiter's memory.
    init(capacity: Int = 0) {
        self.capacity = capacity
        jobs.withLock { $0.reserveCapacity(capacity) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs all jobs, and the jobs that they enqueue, until there are none.
    func drain() {
        var batch: [UnownedJob] = []
        batch.reserveCapacity(capacity)
        while true {
            batch.removeAll(keepingCapacity: true)
            let taken = batch
            batch = jobs.withLock { jobs in
                defer { jobs = taken }
                return jobs
            }
            guard !batch.isEmpty else { return }
            for job in batch { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}
