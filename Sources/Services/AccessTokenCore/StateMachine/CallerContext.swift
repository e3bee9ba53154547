/// What the state machine has to know of a caller.
package struct CallerContext: Sendable {
    /// The caller was cancelled already: it may have a token that is there, and start nothing (X3).
    package let isCancelled: Bool

    /// The loads inside which the caller asks; a load that it starts is inside them too.
    package let loads: [LoadID]

    /// By default the present code is the caller; it may be a task or not.
    package init(isCancelled: Bool = false, loads: [LoadID] = LoadContext.currentLoads) {
        self.isCancelled = isCancelled
        self.loads = loads
    }
}
