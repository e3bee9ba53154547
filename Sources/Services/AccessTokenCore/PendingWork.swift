/// Counts work that is under way, and tells others when none is.
///
/// A `DispatchGroup` would do, but ends the process if it is released while work is under way, as with a service whose loader
/// never answers.
package final class PendingWork: Sendable {
    private let state = Locked<(count: Int, waiting: [@Sendable () -> Void])>((0, []))

    package init() {}

    package var isUnderWay: Bool { state.withLock { $0.count > 0 } }

    package func begin() {
        state.withLock { $0.count += 1 }
    }

    package func end() {
        let waiting = state.withLock { state -> [@Sendable () -> Void] in
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for action in waiting { action() }
    }

    /// Calls back as soon as none is under way, which may be before it returns.
    package func whenOver(_ action: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.count > 0 { state.waiting.append(action) }
            return state.count == 0
        }
        if isOver { action() }
    }
}
