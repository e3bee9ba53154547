import AccessTokenAdapters
import Dispatch
import Foundation

/// Sends a messenger through all that a subject may run on, again and again, until nothing happens any more.
///
/// The messenger goes through the handlers' queue, the pool of tasks at two priorities, and the main queue if that is
/// served. Where it cannot get through, the subject blocks something, and there is nothing to wait for.
final class Settling: Sendable {
    private enum Next {
        case again, wait, rest
    }

    private struct State {
        var lines: Int
        var quietRounds = 0
        var rounds = 0
        var isOver = false
    }

    /// As many steps as a subject may take from queue to queue without a line in the trace.
    private static let fewestQuietRounds = 8

    private let log: RunLog
    private let handlerQueue: DispatchQueue
    private let state: Locked<State>
    private let start = DispatchTime.now().uptimeNanoseconds
    private let quietTime = Settling.quietTime

    init(log: RunLog, handlerQueue: DispatchQueue) {
        self.log = log
        self.handlerQueue = handlerQueue
        state = Locked(State(lines: log.lines))
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let finish = OneShot(abandoned: ()) { continuation.resume() }
            TimeLimit.start(0.5) { [self] in
                !state.withLock { $0.isOver }
            } then: {
                finish(())
            }
            round(finish)
        }
    }

    private func round(_ finish: OneShot<Void>) {
        handlerQueue.async { [self] in
            Task.detached(priority: .medium) { [self] in
                // Where the pool is no part of Dispatch, its low priority is not the global queue's.
                Task.detached(priority: .low) { [self] in
                    DispatchQueue.global(qos: .utility).async { [self] in
                        guard MainQueue.shared.isServed else { return end(of: finish) }
                        DispatchQueue.main.async { [self] in end(of: finish) }
                    }
                }
            }
        }
    }

    private func end(of finish: OneShot<Void>) {
        switch next() {
        case .again: round(finish)
        case .wait: TimeLimit.after(milliseconds: 1) { self.round(finish) }
        case .rest:
            state.withLock { $0.isOver = true }
            finish(())
        }
    }

    private func next() -> Next {
        let lines = log.lines
        return state.withLock { state in
            state.rounds += 1
            state.quietRounds = lines == state.lines ? state.quietRounds + 1 : 0
            state.lines = lines
            // A subject that never rests is not waited for.
            if state.rounds == 500 { return .rest }
            guard state.quietRounds >= Self.fewestQuietRounds else { return .again }
            return DispatchTime.now().uptimeNanoseconds - start >= quietTime ? .rest : .wait
        }
    }

    /// Nanoseconds: a thread of the subject that a busy machine has stopped goes on only after the turns of others.
    private static var quietTime: UInt64 {
        var load = 0.0
        guard unsafe getloadavg(&load, 1) == 1 else { return 1_000_000 }
        let excess = load / Double(ProcessInfo.processInfo.activeProcessorCount) - 1
        return UInt64(1e6 * (1 + min(9, max(0, 2 * excess))))
    }
}

/// Knows whether anybody serves the main queue, on which a service of the main actor runs.
///
/// A program that blocks its main thread while the contract is verified does not.
private final class MainQueue: Sendable {
    static let shared = MainQueue()

    private let wasServed = Locked(false)

    private init() {
        DispatchQueue.main.async { [self] in wasServed.withLock { $0 = true } }
    }

    var isServed: Bool { wasServed.withLock { $0 } }
}
