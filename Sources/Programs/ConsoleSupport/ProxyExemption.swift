import Foundation

/// Keeps requests to this machine away from a proxy.
///
/// On Linux `URLSession` sends even those through the proxy that the environment names, and takes exemptions from
/// the environment only. The environment is not safe to change once there is a second thread: call this first.
package func keepFromProxy() {
    let environment = ProcessInfo.processInfo.environment
    let exempt = [environment["no_proxy"] ?? environment["NO_PROXY"] ?? "", "127.0.0.1,localhost,::1"]
    unsafe setenv("no_proxy", exempt.filter { !$0.isEmpty }.joined(separator: ","), 1)
}
