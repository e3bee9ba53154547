package import AccessTokenFoundation
import Dispatch

/// Seconds since a moment, by a clock that is never set.
package struct Stopwatch: Sendable {
    private let start = DispatchTime.now().uptimeNanoseconds

    package init() {}

    package var seconds: TimeInterval { TimeInterval(DispatchTime.now().uptimeNanoseconds - start) / 1_000_000_000 }
}
