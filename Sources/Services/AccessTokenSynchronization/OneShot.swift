/// A callback that is called exactly once: with the first value that comes, or with a stand-in if it is released
/// without one.
package final class OneShot<Value: Sendable>: Sendable {
    private let pending: Locked<(@Sendable (Value) -> Void)?>
    private let abandoned: Value

    /// - Parameter abandoned: what `callback` gets if nothing ever comes.
    package init(abandoned: Value, _ callback: @escaping @Sendable (Value) -> Void) {
        pending = Locked(callback)
        self.abandoned = abandoned
    }

    /// Whether no value has come yet.
    package var isPending: Bool { pending.withLock { $0 != nil } }

    /// Calls the callback if this is the first value; says whether it was.
    @discardableResult
    package func callAsFunction(_ value: Value) -> Bool {
        guard let callback = pending.withLock({ $0.take() }) else { return false }
        callback(value)
        return true
    }

    deinit {
        pending.withLock { $0.take() }?(abandoned)
    }
}
