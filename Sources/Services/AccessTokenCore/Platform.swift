#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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

/// Runs `body`, which never returns, on a thread of its own.
///
/// `Thread` of Foundation would make a static program for Linux four times as large.
func startThread(_ body: @escaping @Sendable () -> Never) {
    #if canImport(Glibc) || canImport(Musl)
    final class Body: Sendable {
        let run: @Sendable () -> Never
        init(_ run: @escaping @Sendable () -> Never) { self.run = run }
    }
    #if canImport(Musl)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    let argument = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
    let failure = unsafe pthread_create(
        &thread,
        nil,
        { argument in
            guard let argument = unsafe argument else { return nil }
            unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
        },
        argument
    )
    precondition(failure == 0, "the system has no thread left")
    #else
    Thread.detachNewThread { body() }
    #endif
}

/// Writes a text to standard error, and ignores that it cannot.
func writeToStandardError(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
