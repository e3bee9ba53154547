import Synchronization

/// Notices that a task was started out of sight.
///
/// A new task comes by on its way to an executor, except the one that an actor starts for itself: it goes straight into the
/// actor's queue, where nothing public tells of it. The runtime numbers all tasks of the process one after the other. So a
/// number that has not come by when the step is over belongs to such a task, or to one that another thread is just about to
/// send on its way.
@available(Executors, *)
final class TaskCensus: TaskExecutor {
    private struct Arrivals: Sendable {
        /// The last ids that have come by, each at the place of its last digits.
        var ids: [UInt64] = Array(repeating: 0, count: 1 << 14)
        /// Which explorations miss a task that has not come by.
        var missed: [UInt64: [ObjectIdentifier]] = [:]

        func contains(_ id: UInt64) -> Bool { ids[index(of: id)] == id }
        func index(of id: UInt64) -> Int { Int(truncatingIfNeeded: id) & (ids.count - 1) }
    }

    private struct State: Sendable {
        var last: UInt64 = 0
        var probe: UnownedJob?
    }

    private static let arrivals = Protected(Arrivals())
    private static let count = Atomic<Int>(0)

    /// Whether anybody looks at what has come by; every plain task of the process asks.
    static var isNeeded: Bool { count.load(ordering: .acquiring) > 0 }

    private let state = Protected(State())

    init() {
        Self.count.add(1, ordering: .releasing)
    }

    deinit {
        Self.count.subtract(1, ordering: .releasing)
        let this = ObjectIdentifier(self)
        Self.arrivals.withLock { arrivals in
            arrivals.missed = arrivals.missed.compactMapValues { missing in
                let others = missing.filter { $0 != this }
                return others.isEmpty ? nil : others
            }
        }
    }

    /// Notes a task that has come by.
    ///
    /// A task that comes by late is no longer missed by the other explorations, whose threads have not started it. Its own
    /// exploration goes on missing it: the task had begun out of sight.
    static func note(_ task: UInt64, on census: TaskCensus? = nil) {
        arrivals.withLock { arrivals in
            arrivals.ids[arrivals.index(of: task)] = task
            guard let missing = arrivals.missed.removeValue(forKey: task) else { return }
            let own = missing.filter { $0 == census.map { ObjectIdentifier($0) } }
            if !own.isEmpty { arrivals.missed[task] = own }
        }
    }

    /// The tasks that have begun since the last call and have not come by.
    func missedTasks() -> [UInt64] {
        let task = Task(executorPreference: self) {}
        defer { withExtendedLifetime(task) {} }
        let (probe, last) = state.withLock { state in
            defer { state.probe = nil }
            return (state.probe, state.last)
        }
        guard let probe else { return [] }
        let next = JobLayout.taskID(of: probe)
        state.withLock { $0.last = next }
        unsafe probe.runSynchronously(on: asUnownedTaskExecutor())
        guard last > 0, last < next else { return [] }
        return Self.arrivals.withLock { arrivals in
            // Of so many, some have taken the places of others.
            guard next - last < arrivals.ids.count else { return [] }
            let missed = (last + 1..<next).filter { !arrivals.contains($0) }
            for task in missed { arrivals.missed[task, default: []].append(ObjectIdentifier(self)) }
            return missed
        }
    }

    /// Whether a task that was missed has still not come by, or only later and as one of this exploration.
    func misses(_ task: UInt64) -> Bool {
        Self.arrivals.withLock { $0.missed[task]?.contains(ObjectIdentifier(self)) ?? false }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Self.note(JobLayout.taskID(of: job))
        state.withLock { $0.probe = job }
    }
}
