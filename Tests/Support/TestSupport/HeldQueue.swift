import AccessTokenGCD
import AccessTokenSynchronization
import Dispatch

/// A queue that runs its blocks when a test says so.
package final class HeldQueue: SerialQueue {
    private let dispatchQueue = DispatchQueue(label: "held")
    private let blocks = Locked<[@Sendable () -> Void]>([])

    package init() {}

    /// How many blocks wait.
    package var count: Int { blocks.withLock { $0.count } }

    package func enqueue(_ block: @escaping @Sendable @convention(block) () -> Void) {
        blocks.withLock { $0.append { block() } }
    }

    /// Runs the blocks that wait, and those that they add.
    package func run() {
        while runNext() {}
    }

    /// Runs the block that has waited longest, if there is one.
    @discardableResult
    package func runNext() -> Bool {
        guard let block = blocks.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
        dispatchQueue.sync(execute: block)
        return true
    }
}
