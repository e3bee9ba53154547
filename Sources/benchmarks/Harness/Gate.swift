import Synchronization

/// Holds one load up until it is opened.
final class Gate: Sendable {
    private enum State {
        case closed
        case waiting(CheckedContinuation<Void, Never>)
        case open
    }

    private let state = Mutex(State.closed)

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if case .open = state { return true }
                state = .waiting(continuation)
                return false
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let former = state.withLock { state in
            defer { state = .open }
            return state
        }
        if case .waiting(let continuation) = former { continuation.resume() }
    }
}
