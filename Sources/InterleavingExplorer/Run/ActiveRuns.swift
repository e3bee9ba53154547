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

/// The runs that are under way: at most one on a thread.
enum ActiveRuns {
    private static let runs = Protected<[ScenarioRun]>([])
    private static let count = Atomic<Int>(0)

    /// Where each thread keeps its run, which is not retained: it is active for no longer than its caller holds it.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let status = unsafe pthread_key_create(&key, nil)
        precondition(status == 0, "The process has no thread-specific key left")
        return key
    }()

    /// The run whose steps run on the calling thread.
    static var onThisThread: ScenarioRun? {
        guard let run = unsafe pthread_getspecific(key) else { return nil }
        return unsafe Unmanaged<ScenarioRun>.fromOpaque(run).takeUnretainedValue()
    }

    /// Lets the calling thread run the steps of a run.
    static func with<Result>(_ run: ScenarioRun, _ body: () -> Result) -> Result {
        runs.withLock { $0.append(run) }
        count.add(1, ordering: .releasing)
        unsafe pthread_setspecific(key, Unmanaged.passUnretained(run).toOpaque())
        defer {
            pthread_setspecific(key, nil)
            count.subtract(1, ordering: .releasing)
            runs.withLock { $0.removeAll { $0 === run } }
        }
        return body()
    }

    /// A run that meets a condition, on any thread.
    static func first(where condition: (ScenarioRun) -> Bool) -> ScenarioRun? {
        // Every plain task of the process comes by, also when nothing is explored.
        guard count.load(ordering: .acquiring) > 0 else { return nil }
        return runs.withLock { $0 }.first(where: condition)
    }
}
