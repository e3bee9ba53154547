import AccessTokenCore
import ConsoleSupport
import Dispatch
import Foundation

/// Handles Ctrl-C: the first one calls a closure, the second one ends the process.
final class InterruptWatch {
    private let source: any DispatchSourceSignal

    /// - Parameter onFirst: called at the first Ctrl-C.
    init(onFirst: @escaping @Sendable () -> Void) {
        // The default action would end the process before the source sees the signal.
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        let count = Locked(0)
        source.setEventHandler {
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { _exit(ExitStatus.interrupted.rawValue) }
            onFirst()
        }
        source.activate()
    }

    deinit {
        source.cancel()
    }
}
