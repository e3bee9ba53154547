public import AccessTokenFoundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The wall clock, read as cheaply as the platform can: it is read on every retrieval.
///
/// On Linux that is the coarse clock, which lags behind by some milliseconds at most: nothing for an expiry.
@usableFromInline
package func systemNow() -> Date {
    #if canImport(Glibc) || canImport(Musl)
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time) == 0 else { return Date() }
    return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000)
    #else
    return Date()
    #endif
}

#if canImport(Glibc) || canImport(Musl)
/// How many processors are told apart: all that the system has, up to some.
@usableFromInline let processorCount = min(max(1, Int(sysconf(Int32(_SC_NPROCESSORS_CONF)))), 32)

/// The C libraries have it behind a macro that Swift does not set.
@_extern(c, "sched_getcpu")
private func numberOfProcessor() -> Int32

/// Which of ``processorCount`` processors runs the present thread; it may be another one a moment later.
@usableFromInline
func currentProcessor() -> Int {
    let number = Int(truncatingIfNeeded: UInt32(bitPattern: numberOfProcessor()))
    return number < processorCount ? number : number % processorCount
}

/// Lets another thread run in place of the present one.
@usableFromInline
func yieldToOthers() { sched_yield() }
#endif

/// Runs timers on a thread of its own.
///
/// `Thread` of Foundation would make a static program for Linux four times as large.
func startThread(of timers: TimerThread) {
    #if canImport(Glibc) || canImport(Musl)
    // Only for its type, which differs between C libraries.
    var thread = pthread_self()
    let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { timers in
        guard let timers = unsafe timers else { return nil }
        unsafe Unmanaged<TimerThread>.fromOpaque(timers).takeRetainedValue().run()
    }
    let failure = unsafe pthread_create(&thread, nil, body, Unmanaged.passRetained(timers).toOpaque())
    precondition(failure == 0, "the system has no thread left")
    #else
    Thread.detachNewThread { timers.run() }
    #endif
}
