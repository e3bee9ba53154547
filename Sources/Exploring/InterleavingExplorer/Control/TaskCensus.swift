import Synchronization

/// Notices that a task was started out of sight.
///
/// It is needed where the calls of the runtime do not come by, see ``RuntimeCalls``, and is less sure: other threads
/// start tasks as well. A task that an actor starts for itself goes straight into the actor's queue, and past every
/// executor. The runtime numbers all tasks of the process: a number that no executor has seen is such a task, or one
/// that another thread is starting.
@available(Executors, *)
final class TaskCensus: Sendable {
    /// The last tasks that have come by, each at the place of its last digits, and the exploration that has seen it.
    private struct Arrivals: Sendable {
        private var all: [(id: UInt64, census: ObjectIdentifier?)] = Array(repeating: (0, nil), count: 1 << 14)

        var count: Int { all.count }

        subscript(id: UInt64) -> (id: UInt64, census: ObjectIdentifier?) {
            get { all[Int(truncatingIfNeeded: id) & (all.count - 1)] }
            set { all[Int(truncatingIfNeeded: id) & (all.count - 1)] = newValue }
        }
    }

    private static let arrivals = Protected(Arrivals())
    private static let count = Atomic<Int>(0)

    /// Whether anybody looks at what has come by; every plain task of the process asks.
    private static var isNeeded: Bool { count.load(ordering: .acquiring) > 0 }

    private let last = Protected<UInt64>(0)
    private let probes = ProbeExecutor()

    init() {
        Self.count.add(1, ordering: .releasing)
    }

    deinit {
        Self.count.subtract(1, ordering: .releasing)
    }

    /// Notes a task that has come by, in an exploration or elsewhere.
    static func note(_ task: UInt64, on census: TaskCensus? = nil) {
        guard isNeeded else { return }
        arrivals.withLock { $0[task] = (task, census.map { ObjectIdentifier($0) }) }
    }

    /// The tasks that have begun since the last call and have not come by.
    func missedTasks() -> [UInt64] {
        let task = Task(executorPreference: probes) {}
        defer { withExtendedLifetime(task) {} }
        guard let probe = probes.first else { return [] }
        let next = JobLayout.taskID(of: probe)
        Self.note(next)
        probes.runFirst()
        let last = last.withLock { last in
            defer { last = next }
            return last
        }
        guard last > 0, last < next else { return [] }
        return Self.arrivals.withLock { arrivals in
            // Of so many, some have taken the places of others.
            guard next - last < arrivals.count else { return [] }
            return (last + 1..<next).filter { arrivals[$0].id != $0 }
        }
    }

    /// Whether a task that was missed has still not come by, or only later and as one of this exploration.
    ///
    /// A task that another exploration has seen was not started here.
    func misses(_ task: UInt64) -> Bool {
        let arrival = Self.arrivals.withLock { $0[task] }
        return arrival.id != task || arrival.census == ObjectIdentifier(self)
    }
}
