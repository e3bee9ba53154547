package import Dispatch

/// Runs blocks on a thread of its own, each when it is due, the earliest first.
///
/// It needs no thread of Dispatch and none of the pool that runs tasks: code that blocks all of those holds up no block here.
package final class TimerThread: Sendable {
    private struct Timer: Sendable {
        let number: UInt64
        let deadline: DispatchTime
        let action: @Sendable () -> Void
    }

    private struct State: Sendable {
        /// Those of one deadline in the order in which they were scheduled.
        var timers: [Timer] = []
        var lastNumber: UInt64 = 0
        /// Whether the thread is told already that the earliest timer is another one.
        var isWoken = false
    }

    private let state = Locked(State())
    /// Left when the earliest timer is another one.
    ///
    /// A semaphore would wait by the wall clock on Linux: setting that back would prolong the deadlines.
    private let earliestChanged = DispatchGroup()

    package init() {
        earliestChanged.enter()
        startThread(of: self)
    }

    @discardableResult
    package func schedule(at deadline: DispatchTime, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        let number = state.withLock { state in
            state.lastNumber += 1
            let timer = Timer(number: state.lastNumber, deadline: deadline, action: action)
            // Nearly all have the same delay, so that a new timer is the last one.
            let index = state.timers.lastIndex { $0.deadline <= deadline }.map { $0 + 1 } ?? 0
            state.timers.insert(timer, at: index)
            if index == 0 && !state.isWoken {
                state.isWoken = true
                earliestChanged.leave()
            }
            return timer.number
        }
        return AccessTokenTimer { [self] in cancel(number) }
    }

    private func cancel(_ number: UInt64) {
        // Released outside of the lock, since the last reference to a service may go with it.
        _ = state.withLock { state in
            state.timers.firstIndex { $0.number == number }.map { state.timers.remove(at: $0) }
        }
    }

    func run() -> Never {
        while true { fireNext() }
    }

    private func fireNext() {
        let earliest = state.withLock { state in
            if state.isWoken { earliestChanged.enter() }
            state.isWoken = false
            return state.timers.first?.deadline ?? .distantFuture
        }
        guard earliestChanged.wait(timeout: earliest) == .timedOut else { return }
        let due = state.withLock { state -> Timer? in
            guard let first = state.timers.first, first.deadline <= .now() else { return nil }
            return state.timers.removeFirst()
        }
        due?.action()
    }
}
