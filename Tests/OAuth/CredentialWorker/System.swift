import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Ends the process when its standard input ends.
///
/// - Returns: an element for each byte that is written there.
func endWithStandardInput() -> AsyncStream<UInt8> {
    let (bytes, yield) = AsyncStream.makeStream(of: UInt8.self)
    Thread.detachNewThread {
        var byte: UInt8 = 0
        while unsafe read(0, &byte, 1) > 0 { yield.yield(byte) }
        exit(0)
    }
    return bytes
}

/// Leaves the processors to the tests that run at the same time.
func yieldToTests() {
    _ = nice(10)
}

/// Lets no file become longer than this, as if the disk were full; `nil` lets it again.
func limitFiles(to bytes: UInt?) {
    // The signal would end the process; without it, the write fails.
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit()
    #if canImport(Glibc)
    let kind = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
    let kind = RLIMIT_FSIZE
    #endif
    guard unsafe getrlimit(kind, &limit) == 0 else { return }
    limit.rlim_cur = bytes.map { rlim_t($0) } ?? limit.rlim_max
    _ = unsafe setrlimit(kind, &limit)
}

/// For tests that root runs: no permission keeps root out.
func becomeUser(_ user: UInt32) {
    guard setuid(user) == 0 else { exit(77) }
}
