import AccessTokenSynchronization
package import Dispatch

/// A serial queue, as far as the services need one.
///
/// `DispatchQueue` cannot say whether it is empty. Tests pass a queue that runs one block at a time, on request.
package protocol SerialQueue: AnyObject, Sendable {
    /// Runs the block after those that came before it.
    ///
    /// A block as Dispatch has it: a closure given to a `DispatchQueue` is not wrapped in another one.
    func enqueue(_ block: @escaping @Sendable @convention(block) () -> Void)
}

extension SerialQueue {
    /// A callback that has `handler` called on the queue, once, and released there: what a handler captures may belong
    /// there.
    package func callback<Value: Sendable>(
        _ handler: @escaping @Sendable (Value) -> Void
    ) -> @Sendable (Value) -> Void {
        let pending = Pending(handler)
        return { value in self.enqueue { pending.take()?(value) } }
    }
}

/// A handler that is called once, by the code that takes it.
private final class Pending<Value: Sendable>: Sendable {
    private let handler: Locked<(@Sendable (Value) -> Void)?>

    init(_ handler: @escaping @Sendable (Value) -> Void) { self.handler = Locked(handler) }

    func take() -> (@Sendable (Value) -> Void)? { handler.withLock { $0.take() } }
}

extension DispatchQueue: SerialQueue {
    package func enqueue(_ block: @escaping @Sendable @convention(block) () -> Void) {
        async(execute: block)
    }
}
