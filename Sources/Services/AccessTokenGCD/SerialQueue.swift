package import Dispatch

/// A serial queue, as far as the services need one.
///
/// It is what a `DispatchQueue` does not say of itself that tests need: no code can see whether one is empty. A queue of
/// theirs runs one block at a time, when they want it to.
package protocol SerialQueue: AnyObject, Sendable {
    /// Runs the block after those that came before it.
    ///
    /// A block as Dispatch has it: a closure given to a `DispatchQueue` is not wrapped in another one.
    func enqueue(_ block: @escaping @Sendable @convention(block) () -> Void)
}

extension DispatchQueue: SerialQueue {
    package func enqueue(_ block: @escaping @Sendable @convention(block) () -> Void) {
        async(execute: block)
    }
}
