package import Dispatch

/// Runs blocks on a thread of its own, each when it is due, the earliest first.
///
/// It needs no thread of Dispatch and none of the pool that runs tasks: code that blocks all of those holds up no block
/// here.
package final class TimerThread: Sendable {
    private struct State: Sendable {
        var actions = TimerHeap<@Sendable () -> Void>()
        /// Whether the thread is told already that the earliest deadline is another one.
        var isWoken = false
    }

    private let state = Locked(State())
    /// Left when the earliest deadline is another one.
    ///
    /// A semaphore would wait by the wall clock on Linux: setting that back would prolong the deadlines.
    private let earliestChanged = DispatchGroup()

    package init() {
        earliestChanged.enter()
        startThread(of: self)
    }

    @discardableResult
    package func schedule(at deadline: DispatchTime, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        let id = state.withLock { state in
            let isEarliest = state.actions.earliest.map { deadline < $0 } ?? true
            if isEarliest && !state.isWoken {
                state.isWoken = true
                earliestChanged.leave()
            }
            return state.actions.add(action, at: deadline)
        }
        // Released outside of the lock, since the last reference to a service may go with the action.
        return AccessTokenTimer { [self] in _ = state.withLock { $0.actions.remove(id) } }
    }

    func run() -> Never {
        while true { fireNext() }
    }

    private func fireNext() {
        let earliest = state.withLock { state in
            if state.isWoken { earliestChanged.enter() }
            state.isWoken = false
            return state.actions.earliest ?? .distantFuture
        }
        guard earliestChanged.wait(timeout: earliest) == .timedOut else { return }
        state.withLock { $0.actions.removeFirst(dueAt: .now()) }?()
    }
}
