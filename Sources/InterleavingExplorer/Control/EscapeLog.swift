import Dispatch

/// What has escaped from control during an exploration, and a signal for each arrival from outside.
final class EscapeLog: Sendable {
    private let messages = Protected<[String]>([])
    private let signal = DispatchSemaphore(value: 0)

    /// Notes an escape, which may be called on any thread.
    func report(_ message: String) {
        messages.withLock { $0.append(message) }
        signal.signal()
    }

    /// The first escape so far.
    var first: String? {
        messages.withLock(\.first)
    }

    /// Waits for the next escape, and returns whether there was one in time.
    func wait(for patience: Duration) -> Bool {
        let seconds = patience / Duration.seconds(1)
        return signal.wait(timeout: .now() + seconds) == .success
    }
}
