import AccessTokenCore
import Foundation

/// Lets tasks through one at a time, in the order in which they came; those that wait hold no thread.
final class Turns: Sendable {
    private enum Outcome {
        case mine
        case busy
        case cancelled
    }

    private struct Waiting {
        let id: Int
        let continuation: CheckedContinuation<Outcome, Never>
        var timer: AccessTokenTimer?
    }

    private struct State {
        var isTaken = false
        var waiting: [Waiting] = []
        var lastID = 0
    }

    private let patience: TimeInterval
    private let clock: any AccessTokenClock
    private let state = Locked(State())

    init(patience: TimeInterval, clock: any AccessTokenClock) {
        self.patience = patience
        self.clock = clock
    }

    /// Waits for a turn; whoever gets one has to ``pass()`` it on.
    func take() async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in queue(id, continuation) }
        } onCancel: {
            end(id, .cancelled)
        }
        switch outcome {
        case .mine: return
        case .busy: throw CredentialStoreError.busy
        case .cancelled: throw CancellationError()
        }
    }

    /// Lets the next one in.
    func pass() {
        let next = state.withLock { state -> Waiting? in
            state.isTaken = !state.waiting.isEmpty
            return state.isTaken ? state.waiting.removeFirst() : nil
        }
        next?.timer?.cancel()
        next?.continuation.resume(returning: .mine)
    }

    private func queue(_ id: Int, _ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { state -> Outcome? in
            // A cancellation before this moment is seen here; one after it finds the task in the queue.
            if Task.isCancelled { return .cancelled }
            guard state.isTaken else {
                state.isTaken = true
                return .mine
            }
            state.waiting.append(Waiting(id: id, continuation: continuation))
            return nil
        }
        if let outcome { return continuation.resume(returning: outcome) }
        let timer = clock.schedule(after: patience) { [weak self] in self?.end(id, .busy) }
        let isOver = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return true }
            state.waiting[index].timer = timer
            return false
        }
        if isOver { timer.cancel() }
    }

    private func end(_ id: Int, _ outcome: Outcome) {
        let waiting = state.withLock { state in
            state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
        }
        waiting?.timer?.cancel()
        waiting?.continuation.resume(returning: outcome)
    }
}
