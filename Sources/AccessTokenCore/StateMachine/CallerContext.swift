/// What the state machine has to know of a caller.
@usableFromInline
package struct CallerContext: Sendable {
    /// The caller was cancelled already: it may have a token that is there, and start nothing (X3).
    @usableFromInline
    package var isCancelled: Bool

    /// A load runs with the highest priority of its waiters.
    @usableFromInline
    package var priority: UInt8

    /// The loads inside which the caller asks; a load that it starts is inside them too.
    @usableFromInline
    package var loads: [LoadID]

    @usableFromInline
    package init(isCancelled: Bool = false, priority: UInt8 = 0, loads: [LoadID] = []) {
        self.isCancelled = isCancelled
        self.priority = priority
        self.loads = loads
    }
}
