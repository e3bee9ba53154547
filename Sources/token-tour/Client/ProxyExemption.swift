#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Keeps requests to the loopback address away from a proxy.
///
/// On Linux `URLSession` sends even those through the proxy that the environment names, and takes the
/// exemption from nowhere but the environment.
enum ProxyExemption {
    /// Call it before the first thread starts: the environment is not safe to change after that.
    static func setForLoopback(environment: [String: String]) {
        let exempt = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        let value = exempt.isEmpty ? "127.0.0.1" : exempt + ",127.0.0.1"
        unsafe setenv("no_proxy", value, 1)
    }
}
