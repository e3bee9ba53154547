import AccessTokenAdapters

/// What happened so far, line by line, and who waits for something to happen.
///
/// The suite waits for events, never for time: `patience` only ends a wait that a broken subject would make endless.
final class Changes: Sendable {
    private struct Wait {
        let id: Int
        let condition: @Sendable () -> Bool
        let finish: OneShot<Bool>
        var timer: Task<Void, Never>?
    }

    private struct State {
        var trace: [String] = []
        var events: [AccessTokenEvent] = []
        var names: [(value: String, name: String)] = []
        var waits: [Wait] = []
        var lastWait = 0
    }

    private let state = Locked(State())

    var trace: [String] { state.withLock { $0.trace } }
    var events: [AccessTokenEvent] { state.withLock { $0.events } }

    /// Gives a token a name, so that traces can speak of it without its value.
    func name(_ token: AccessToken, _ name: String) {
        state.withLock { $0.names.append((token.value, name)) }
    }

    func name(_ token: AccessToken) -> String {
        state.withLock { state in state.names.first { $0.value == token.value }?.name ?? "a token" }
    }

    func happened(_ line: String) {
        state.withLock { $0.trace.append(line) }
        check()
    }

    func happened(_ event: AccessTokenEvent) {
        state.withLock { $0.events.append(event) }
        happened("event: \(event)")
    }

    /// Waits until `condition` holds, which is looked at after each change; says whether it does.
    func wait(patience: Duration, until condition: @escaping @Sendable () -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            let id = state.withLock { state in
                state.lastWait += 1
                let finish = OneShot<Bool>(abandoned: false) { continuation.resume(returning: $0) }
                state.waits.append(Wait(id: state.lastWait, condition: condition, finish: finish))
                return state.lastWait
            }
            let timer = Task.detached {
                guard (try? await Task.sleep(for: patience)) != nil else { return }
                self.end(id, false)
            }
            let isOver = state.withLock { state in
                guard let index = state.waits.firstIndex(where: { $0.id == id }) else { return true }
                state.waits[index].timer = timer
                return false
            }
            if isOver { timer.cancel() } else { check() }
        }
    }

    /// Looks at all conditions again: something changed that leaves no line in the trace.
    func check() {
        for wait in state.withLock({ $0.waits }) where wait.condition() { end(wait.id, true) }
    }

    private func end(_ id: Int, _ holds: Bool) {
        let wait = state.withLock { state in
            state.waits.firstIndex { $0.id == id }.map { state.waits.remove(at: $0) }
        }
        wait?.timer?.cancel()
        wait?.finish(holds)
    }
}
