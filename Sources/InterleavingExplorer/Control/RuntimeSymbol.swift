#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Finds what the concurrency runtime exports but does not declare.
enum RuntimeSymbol {
    /// The address of a function or variable of the running process.
    ///
    /// **Failure.** `nil` where there is no such symbol, for instance in a fully static executable.
    static func address(of name: String) -> UnsafeMutableRawPointer? {
        unsafe dlsym(dlopen(nil, RTLD_NOW), name)
    }
}
