/// A signal that fires once: actions that were added before run when it fires, later ones at once.
package final class Latch: Sendable {
    private enum State {
        case waiting([@Sendable () -> Void])
        case fired
    }

    private let state = Locked(State.waiting([]))

    package init() {}

    package var hasFired: Bool {
        state.withLock { if case .fired = $0 { true } else { false } }
    }

    package func fire() {
        let actions = state.withLock { state -> [@Sendable () -> Void] in
            guard case .waiting(let actions) = state else { return [] }
            state = .fired
            return actions
        }
        for action in actions { action() }
    }

    /// Calls `action` when the latch fires: at once, if it has fired already.
    package func whenFired(_ action: @escaping @Sendable () -> Void) {
        let hasFired = state.withLock { state in
            guard case .waiting(var actions) = state else { return true }
            state = .waiting([])
            actions.append(action)
            state = .waiting(actions)
            return false
        }
        if hasFired { action() }
    }
}
