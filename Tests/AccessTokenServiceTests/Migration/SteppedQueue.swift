import AccessTokenGCD
import Dispatch

/// A queue whose blocks run when a test says so, on its thread.
final class SteppedQueue: SerialQueue {
    /// Has what blocks find of their queue, such as the loads that a loader is called in.
    let dispatchQueue = DispatchQueue(label: "SteppedQueue")
    private let blocks = Locked<[@Sendable () -> Void]>([])

    func enqueue(_ block: @escaping @Sendable @convention(block) () -> Void) {
        blocks.withLock { $0.append { block() } }
    }

    /// Runs the oldest block; says whether there was one.
    func step() -> Bool {
        let block = blocks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let block else { return false }
        dispatchQueue.sync(execute: block)
        return true
    }
}
