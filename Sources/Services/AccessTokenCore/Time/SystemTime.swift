public import Foundation

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
