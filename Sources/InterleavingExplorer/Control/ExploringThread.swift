import Dispatch

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The threads on which schedules run: never those of the cooperative pool, and one for each exploration.
enum ExploringThread {
    private struct State: Sendable {
        var waiting: [@Sendable () -> Void] = []
        var threads = 0
    }

    private static let state = Protected(State())
    private static let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// Runs an exploration beside others, as soon as a processor is left for it, then calls back.
    ///
    /// Those that wait are taken up in the order in which they were asked for.
    static func perform(_ body: @escaping @Sendable () -> Void) {
        precondition(ActiveRuns.onThisThread == nil, "An exploration cannot be started from inside a scenario.")
        let needsThread = state.withLock { state in
            state.waiting.append(body)
            guard state.threads < processors else { return false }
            state.threads += 1
            return true
        }
        guard needsThread else { return }
        // A serial queue has a thread even if the subjects keep all those of the global queues busy.
        DispatchQueue(label: "InterleavingExplorer").async {
            while let next = takeNext() {
                next()
            }
        }
    }

    /// The exploration that has waited longest; if there is none, the thread has ended.
    private static func takeNext() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.threads -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
