/// The loads that a loader is running, and what waits for their end: a sign-out lets the loader forget the session only
/// when none of them can store a credential any more.
///
/// A load leaves at its end or at its deadline, whichever comes first: nothing waits for a load that is past its deadline.
package struct RunningLoads: Sendable {
    package typealias Action = @Sendable () -> Void

    private var loads: [(id: LoadID, call: Cancellation)] = []
    private var waits: [(epoch: Int, action: Action)] = []

    package init() {}

    /// Whether one of these loads is running.
    package func contains(oneOf loads: [LoadID]) -> Bool {
        self.loads.contains { loads.contains($0.id) }
    }

    /// What cancels the loads, where a loader's calls can be cancelled.
    package var calls: [Cancellation] { loads.map(\.call) }

    /// The loader is asked; `call` cancels that.
    package mutating func begin(_ load: LoadID, _ call: Cancellation) {
        loads.append((load, call))
    }

    /// A load is over, or past its deadline.
    ///
    /// - Returns: what waited for loads of former sessions and need not any more, to be called outside of the decision.
    package mutating func end(_ load: LoadID) -> [Action] {
        loads.removeAll { $0.id == load }
        let over = waits.filter { !isRunningLoad(before: $0.epoch) }
        waits = waits.filter { isRunningLoad(before: $0.epoch) }
        return over.map(\.action)
    }

    /// Calls `action` when the loads of the sessions before this one are over, at once if none is running.
    ///
    /// - Parameter action: only enqueues, or starts a task.
    package mutating func whenOver(before epoch: Int, _ action: @escaping Action) {
        guard isRunningLoad(before: epoch) else { return action() }
        waits.append((epoch, action))
    }

    private func isRunningLoad(before epoch: Int) -> Bool {
        loads.contains { $0.id.sessionEpoch < epoch }
    }
}
