#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Keeps requests to this machine away from a proxy.
///
/// On Linux `URLSession` sends even those through the proxy that the environment names, and takes the
/// exemption from nowhere but the environment.
enum ProxyExemption {
    private static let loopback = "127.0.0.1,localhost,::1"

    /// Call it before the first thread starts: the environment is not safe to change after that.
    static func setForLoopback(environment: [String: String]) {
        let exempt = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        unsafe setenv("no_proxy", exempt.isEmpty ? loopback : "\(exempt),\(loopback)", 1)
    }
}
