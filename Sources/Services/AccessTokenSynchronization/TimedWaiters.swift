package import AccessTokenFoundation

/// A state together with the callers that wait for it to change, behind one lock.
///
/// A waiter ends exactly once: the owner, the waiter's time limit or its cancellation takes it out of the list, and the
/// code that took it out answers it.
package final class TimedWaiters<State: Sendable, Outcome: Sendable>: Sendable {
    /// A caller that waits.
    package struct Waiter: Sendable {
        fileprivate let number: Int
        fileprivate let continuation: CheckedContinuation<Outcome, Never>
        fileprivate var timer: AccessTokenTimer?

        /// Answers a waiter that was taken out of the list.
        package func end(with outcome: Outcome) {
            timer?.cancel()
            continuation.resume(returning: outcome)
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

    /// Waits for an outcome.
    ///
    /// - Parameters:
    ///   - limit: seconds after which the waiter ends with `timedOut`; `nil` lets it wait on.
    ///   - clock: counts them.
    ///   - timedOut: the outcome when they have passed.
    ///   - cancelled: the outcome as soon as the task is cancelled; `nil` lets it wait on.
    ///   - decide: called under the lock. An outcome ends the wait at once; `nil` puts the waiter in the list.
    package func outcome(
        atMost limit: TimeInterval?,
        by clock: any AccessTokenClock,
        timedOut: Outcome,
        cancelled: Outcome? = nil,
        unless decide: (inout State) -> Outcome?
    ) async -> Outcome {
        // Taken before the wait begins: the waiter can be cancelled while it is still arriving.
        let number = guarded.withLock { guarded in
            guarded.lastNumber += 1
            return guarded.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(number: number, continuation: continuation)
                arrive(waiter, atMost: limit, by: clock, timedOut: timedOut, cancelled: cancelled, unless: decide)
            }
        } onCancel: {
            if let cancelled { end(number, with: cancelled) }
        }
    }

    /// Answers a waiter, or puts it in the list.
    ///
    /// Not inlined: a task would keep all of this in its frame while it waits.
    @inline(never)
    private func arrive(
        _ waiter: Waiter,
        atMost limit: TimeInterval?,
        by clock: any AccessTokenClock,
        timedOut: Outcome,
        cancelled: Outcome?,
        unless decide: (inout State) -> Outcome?
    ) {
        let outcome = guarded.withLock { guarded -> Outcome? in
            // A cancellation before this moment is seen here. A later one finds the waiter in the list.
            if let cancelled, Task.isCancelled { return cancelled }
            if let outcome = decide(&guarded.state) { return outcome }
            guarded.waiters.append(waiter)
            return nil
        }
        if let outcome { return waiter.continuation.resume(returning: outcome) }
        guard let limit else { return }
        let number = waiter.number
        let timer = clock.schedule(after: limit) { [self] in end(number, with: timedOut) }
        let hasEnded = guarded.withLock { guarded in
            // It stands near the end: from the beginning, a crowd would be searched for each of its waiters.
            guard let index = guarded.waiters.lastIndex(where: { $0.number == number }) else { return true }
            guarded.waiters[index].timer = timer
            return false
        }
        if hasEnded { timer.cancel() }
    }

    /// Ends one waiter; does nothing if it is not in the list.
    private func end(_ number: Int, with outcome: Outcome) {
        let waiter = guarded.withLock { guarded in
            guarded.waiters.firstIndex { $0.number == number }.map { guarded.waiters.remove(at: $0) }
        }
        waiter?.end(with: outcome)
    }
}

extension AccessTokenClock {
    /// Waits this number of seconds, without a thread; throws `CancellationError` as soon as the task is cancelled.
    package func pause(for seconds: TimeInterval) async throws {
        let waiter = TimedWaiters<Void, Bool>(())
        let hasElapsed = await waiter.outcome(atMost: seconds, by: self, timedOut: true, cancelled: false) { _ in nil }
        guard hasElapsed else { throw CancellationError() }
    }
}
