import AccessTokenCore

/// The requests of a session that are under way, so that they can be cancelled together, and no others.
final class SessionTasks: Sendable {
    /// A request's place among the tasks of its session; it is given up when the request ends or is dropped.
    final class Registration: Sendable {
        private let tasks: SessionTasks
        private let number: Int

        fileprivate init(_ tasks: SessionTasks, number: Int) {
            self.tasks = tasks
            self.number = number
        }

        /// Says how the request is cancelled; cancels it now if its session has been cancelled meanwhile.
        func onCancel(_ cancel: @escaping @Sendable () -> Void) {
            tasks.set(cancel, for: number)
        }

        func end() {
            tasks.remove(number)
        }

        deinit {
            tasks.remove(number)
        }
    }

    private struct State {
        var isInvalid = false
        var lastNumber = 0
        /// `nil` for a request that is registered and cannot be cancelled yet.
        var running: [Int: (@Sendable () -> Void)?] = [:]
        var cancelled: Set<Int> = []
    }

    private let state = Locked(State())

    /// How many requests are under way.
    var count: Int { state.withLock { $0.running.count } }

    /// `nil` if the session takes no more requests.
    func register() -> Registration? {
        let number = state.withLock { state -> Int? in
            guard !state.isInvalid else { return nil }
            state.lastNumber += 1
            state.running[state.lastNumber] = .some(nil)
            return state.lastNumber
        }
        return number.map { Registration(self, number: $0) }
    }

    /// Takes no more requests; those that are under way go on.
    func invalidate() {
        state.withLock { $0.isInvalid = true }
    }

    /// Takes no more requests, and cancels those that are under way.
    func invalidateAndCancel() {
        let running = state.withLock { state in
            state.isInvalid = true
            state.cancelled.formUnion(state.running.keys)
            return state.running.values.compactMap { $0 }
        }
        for cancel in running { cancel() }
    }

    private func set(_ cancel: @escaping @Sendable () -> Void, for number: Int) {
        let isCancelled = state.withLock { state in
            if state.running[number] != nil { state.running[number] = .some(cancel) }
            return state.cancelled.contains(number)
        }
        if isCancelled { cancel() }
    }

    private func remove(_ number: Int) {
        // What the closure holds leaves the lock before it is released.
        _ = state.withLock { state in
            state.cancelled.remove(number)
            return state.running.removeValue(forKey: number)
        }
    }
}
