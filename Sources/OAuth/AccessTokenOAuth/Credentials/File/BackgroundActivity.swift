import Dispatch
import Foundation

/// Asks the system to let the process run on for a while although its app goes to the background.
struct BackgroundActivity: Sendable {
    /// Begins an activity, and returns what ends it; the closure is called at most once, when the system wants to suspend the
    /// process before that.
    let begin: @Sendable (_ onExpiry: @escaping @Sendable () -> Void) -> @Sendable () -> Void

    /// What the platform has; nothing where processes are not suspended.
    static let system = BackgroundActivity { onExpiry in
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        // The system keeps the process running for as long as the closure has not returned. It holds a thread of the
        // system's own.
        let end = DispatchSemaphore(value: 0)
        ProcessInfo.processInfo.performExpiringActivity(withReason: "Renewing an access token") { isExpired in
            if isExpired {
                onExpiry()
                end.signal()
            } else {
                end.wait()
            }
        }
        return { _ = end.signal() }
        #else
        return {}
        #endif
    }
}
