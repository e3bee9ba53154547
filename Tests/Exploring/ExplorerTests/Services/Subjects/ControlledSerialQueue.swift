import AccessTokenGCD
import Dispatch
import InterleavingExplorer

/// A queue of the explorer as a service takes one: each block is a choice, but only when it is there.
final class ControlledSerialQueue: SerialQueue {
    /// Has what blocks find of their queue, such as the loads that a loader is called in.
    let dispatchQueue: DispatchQueue
    private let controlled: ControlledQueue

    init(_ controlled: ControlledQueue) {
        self.controlled = controlled
        dispatchQueue = DispatchQueue(label: controlled.name)
    }

    func enqueue(_ block: @escaping @Sendable @convention(block) () -> Void) {
        controlled.async { [dispatchQueue] in dispatchQueue.sync(execute: block) }
    }
}
