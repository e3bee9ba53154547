package import AccessTokenCore
package import Foundation

/// A state together with the callers that wait for it to change, behind one lock.
///
/// A waiter ends exactly once: the owner, the waiter's time limit, or ``end(_:with:)`` takes it out of the list, and
/// the code that took it out answers it.
package final class TimedWaiters<State: Sendable, Outcome: Sendable>: Sendable {
    /// Identifies a waiter, also before it is in the list and after it has left.
    package struct WaiterID: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// A caller that waits.
    package struct Waiter: Sendable {
        package let id: WaiterID
        fileprivate let answer: @Sendable (Outcome) -> Void
        fileprivate var timer: AccessTokenTimer?

        /// Answers a waiter that was taken out of the list.
        ///
        /// Call it outside of the lock: it runs the code of the waiter.
        package func end(with outcome: Outcome) {
            timer?.cancel()
            answer(outcome)
        }
    }

    private struct Guarded: Sendable {
        var state: State
        var waiters: [Waiter] = []
        var lastNumber = 0
    }

    private let guarded: Locked<Guarded>

    package init(_ state: State) {
        guarded = Locked(Guarded(state: state))
    }

    /// Reads or changes the state, and takes waiters out of the list, which is in the order of their arrival.
    package func withLock<Result: Sendable>(_ body: (inout State, inout [Waiter]) -> Result) -> Result {
        guarded.withLock { body(&$0.state, &$0.waiters) }
    }

    /// An identifier for a waiter to come.
    ///
    /// With it the waiter can be ended while it is still arriving.
    package func makeID() -> WaiterID {
        guarded.withLock { guarded in
            guarded.lastNumber += 1
            return WaiterID(number: guarded.lastNumber)
        }
    }

    /// Waits for an outcome.
    ///
    /// - Parameters:
    ///   - id: the waiter's, from ``makeID()``.
    ///   - limit: seconds after which the waiter ends with `timedOut`; `nil` lets it wait on.
    ///   - clock: counts them.
    ///   - timedOut: the outcome when they have passed.
    ///   - decide: called under the lock. An outcome ends the wait at once; `nil` puts the waiter in the list.
    ///   - answer: called once with the outcome, outside of the lock.
    package func wait(
        _ id: WaiterID,
        atMost limit: TimeInterval?,
        by clock: any AccessTokenClock,
        timedOut: Outcome,
        unless decide: (inout State) -> Outcome?,
        then answer: @escaping @Sendable (Outcome) -> Void
    ) {
        let outcome = guarded.withLock { guarded -> Outcome? in
            if let outcome = decide(&guarded.state) { return outcome }
            guarded.waiters.append(Waiter(id: id, answer: answer))
            return nil
        }
        if let outcome {
            answer(outcome)
            return
        }
        guard let limit else { return }
        let timer = clock.schedule(after: limit) { [self] in end(id, with: timedOut) }
        let hasEnded = guarded.withLock { guarded in
            guard let index = guarded.waiters.firstIndex(where: { $0.id == id }) else { return true }
            guarded.waiters[index].timer = timer
            return false
        }
        if hasEnded { timer.cancel() }
    }

    /// Waits for an outcome, as ``wait(_:atMost:by:timedOut:unless:then:)`` does.
    ///
    /// - Parameter cancelled: the outcome as soon as the task is cancelled; `nil` lets it wait on.
    package func outcome(
        atMost limit: TimeInterval?,
        by clock: any AccessTokenClock,
        timedOut: Outcome,
        cancelled: Outcome? = nil,
        unless decide: (inout State) -> Outcome?
    ) async -> Outcome {
        let id = makeID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait(id, atMost: limit, by: clock, timedOut: timedOut) { state in
                    // A cancellation before this moment is seen here. A later one finds the waiter in the list.
                    if let cancelled, Task.isCancelled { return cancelled }
                    return decide(&state)
                } then: {
                    continuation.resume(returning: $0)
                }
            }
        } onCancel: {
            if let cancelled { end(id, with: cancelled) }
        }
    }

    /// Ends one waiter; does nothing if it is not in the list.
    package func end(_ id: WaiterID, with outcome: Outcome) {
        let waiter = guarded.withLock { guarded in
            guarded.waiters.firstIndex { $0.id == id }.map { guarded.waiters.remove(at: $0) }
        }
        waiter?.end(with: outcome)
    }
}

extension AccessTokenClock {
    /// Waits so many seconds, without a thread.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    package func pause(for seconds: TimeInterval) async throws {
        let waiter = TimedWaiters<Void, Bool>(())
        let hasElapsed = await waiter.outcome(atMost: seconds, by: self, timedOut: true, cancelled: false) { _ in nil }
        guard hasElapsed else { throw CancellationError() }
    }
}
