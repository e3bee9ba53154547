import Dispatch

/// Holds a server's thread until the test lets it go on.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Does not hold for ever, so that a test that fails ends.
    func pass() { _ = semaphore.wait(timeout: .now() + 60) }
}
