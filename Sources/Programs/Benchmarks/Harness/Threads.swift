import AccessTokenCore
import Dispatch
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// Runs one body on several threads at the same time.
enum Threads {
    /// The cost of a call for each of two threads, each on its own processor where the platform allows that.
    static func pair(calls: Int, _ body: @escaping @Sendable (_ calls: Int) -> Void) -> Sample {
        let time = run(2, pinned: true, warmUp: { body(calls / 10) }, { body(calls) })
        return Sample(nanoseconds: time.average / Double(calls))
    }

    /// Runs `body` on each of so many threads, which all begin at the same moment.
    ///
    /// - Returns: nanoseconds from the first beginning to the last end, and those of one thread on average.
    static func run(
        _ count: Int,
        pinned: Bool = false,
        warmUp: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable () -> Void
    ) -> (wall: Double, average: Double) {
        let absent = Countdown(count)
        let running = Countdown(count)
        let watch = Stopwatch()
        let times = Locked<[(begin: Double, end: Double)]>([])
        for number in 0..<count {
            let thread = Thread {
                if pinned { pin(to: number) }
                warmUp()
                absent.signal()
                while !absent.isZero { if !pinned { sched_yield() } }
                let begin = watch.nanoseconds
                body()
                let end = watch.nanoseconds
                times.withLock { $0.append((begin, end)) }
                running.signal()
            }
            thread.start()
        }
        running.wait()
        let all = times.withLock { $0 }
        let wall = (all.map(\.end).max() ?? 0) - (all.map(\.begin).min() ?? 0)
        return (wall, all.map { $0.end - $0.begin }.reduce(0, +) / Double(count))
    }

    /// Two threads on one processor would run one after the other, and hide their contention.
    private static func pin(to processor: Int) {
        #if canImport(Glibc)
        typealias SetAffinity = @convention(c) (pid_t, Int, UnsafePointer<UInt64>) -> Int32
        guard let setAffinity = unsafe LibraryFunction.named("sched_setaffinity", as: SetAffinity.self) else { return }
        var processors = UInt64(1) << UInt64(processor)
        _ = unsafe setAffinity(0, MemoryLayout<UInt64>.size, &processors)
        #endif
    }
}

/// Lets a thread wait until `signal()` was called so many times.
final class Countdown: Sendable {
    private let left: Atomic<Int>
    private let done = DispatchSemaphore(value: 0)

    init(_ count: Int) {
        left = Atomic(count)
    }

    func signal() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
    }

    var isZero: Bool { left.load(ordering: .acquiring) == 0 }

    /// Blocks the thread: not to be called from the pool.
    func wait() {
        done.wait()
    }
}

#if canImport(Glibc)
/// A function of the C library that its Swift module leaves out.
enum LibraryFunction {
    // Safe if the caller gives the function's own type.
    @unsafe
    static func named<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let address = unsafe dlsym(nil, name) else { return nil }
        return unsafe unsafeBitCast(address, to: type)
    }
}
#endif
