import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// Two threads that do the same at the same time, each on a processor of its own where the platform lets us say so.
enum ThreadPair {
    /// What one call costs each of the two threads.
    static func sample(calls: Int, _ body: @escaping @Sendable (_ calls: Int) -> Void) -> Sample {
        let start = Meeting()
        let done = Countdown(2)
        let total = Mutex(0.0)
        for processor in 0..<2 {
            let thread = Thread {
                pin(to: processor)
                body(calls / 10)
                start.arrive()
                let watch = Stopwatch()
                body(calls)
                let nanoseconds = watch.nanoseconds
                total.withLock { $0 += nanoseconds }
                done.signal()
            }
            thread.start()
        }
        done.wait()
        return Sample(nanoseconds: total.withLock { $0 } / 2 / Double(calls))
    }

    /// Two lanes on one processor would take turns, and hide that they are in each other's way.
    private static func pin(to processor: Int) {
        #if canImport(Glibc)
        typealias SetAffinity = @convention(c) (pid_t, Int, UnsafePointer<UInt64>) -> Int32
        guard let setAffinity = unsafe LibraryFunction.named("sched_setaffinity", as: SetAffinity.self) else { return }
        var processors = UInt64(1) << UInt64(processor)
        _ = unsafe setAffinity(0, MemoryLayout<UInt64>.size, &processors)
        #endif
    }
}
