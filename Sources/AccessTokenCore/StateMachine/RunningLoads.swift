/// The loads that a loader is running, and what waits for their end: a sign-out lets the loader forget the session only
/// when none of them can store a credential any more.
///
/// A load leaves at its end or at its deadline, whichever comes first: nothing waits for a load that is past its deadline.
package struct RunningLoads: Sendable {
    package typealias Action = @Sendable () -> Void

    private var loads: [LoadID] = []
    private var waits: [(epoch: Int, action: Action)] = []

    package init() {}

    /// Whether one of these loads is running.
    package func contains(oneOf loads: [LoadID]) -> Bool {
        loads.contains { self.loads.contains($0) }
    }

    /// The loader is asked.
    package mutating func begin(_ load: LoadID) {
        loads.append(load)
    }

    /// A load is over, or past its deadline.
    ///
    /// - Returns: what waited for loads of former sessions and need not any more, to be called now.
    package mutating func end(_ load: LoadID) -> [Action] {
        loads.removeAll { $0 == load }
        var actions: [Action] = []
        while let over = waits.firstIndex(where: { !isRunningLoad(before: $0.epoch) }) {
            actions.append(waits.remove(at: over).action)
        }
        return actions
    }

    /// Waits for the loads of the sessions before this one.
    ///
    /// - Returns: false if none is running: then `action` is not kept.
    package mutating func wait(forSessionsBefore epoch: Int, then action: @escaping Action) -> Bool {
        guard isRunningLoad(before: epoch) else { return false }
        waits.append((epoch, action))
        return true
    }

    private func isRunningLoad(before epoch: Int) -> Bool {
        loads.contains { $0.sessionEpoch < epoch }
    }
}
