import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The thread on which schedules run: never one of the cooperative pool, and one exploration at a time.
enum ExploringThread {
    private static let queue = DispatchQueue(label: "InterleavingExplorer")
    private static let thread = Atomic<UInt>(0)
    private static let activeRun = Protected<ScenarioRun?>(nil)

    /// Whether the calling thread is exploring at this moment.
    static var isCurrent: Bool {
        thread.load(ordering: .acquiring) == currentThread
    }

    /// Whether an exploration is going on, on any thread.
    static var isBusy: Bool {
        thread.load(ordering: .acquiring) != 0
    }

    /// The run that is under way.
    static var run: ScenarioRun? {
        get { isBusy ? activeRun.withLock { $0 } : nil }
        set { activeRun.withLock { $0 = newValue } }
    }

    /// Runs an exploration after those that were asked for before, then calls back.
    static func perform(_ body: @escaping @Sendable () -> Void) {
        precondition(!isCurrent, "An exploration cannot be started from inside a scenario.")
        queue.async {
            thread.store(currentThread, ordering: .releasing)
            body()
            thread.store(0, ordering: .releasing)
        }
    }

    private static var currentThread: UInt {
        #if canImport(Darwin)
        unsafe UInt(bitPattern: pthread_self())
        #elseif canImport(Musl)
        unsafe UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }
}
