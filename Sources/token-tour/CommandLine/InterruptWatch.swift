import AccessTokenGCD
import Dispatch
import Foundation

/// Turns Ctrl-C into a wish to stop: the first lets the round end, the second does not wait for it.
final class InterruptWatch {
    private let source: any DispatchSourceSignal

    /// - Parameters:
    ///   - onFirst: called at the first Ctrl-C.
    ///   - onSecond: called at the second one, right before the process ends.
    init(onFirst: @escaping @Sendable () -> Void, onSecond: @escaping @Sendable () -> Void) {
        // Only without the default action does the process live to hear of the signal.
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        let count = Locked(0)
        source.setEventHandler {
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else {
                onSecond()
                _exit(ExitStatus.interrupted.rawValue)
            }
            onFirst()
        }
        source.activate()
    }

    deinit {
        source.cancel()
    }
}
