import AccessTokenCore
public import Synchronization

/// How a task becomes a waiter, and is one no more when it is cancelled: what the queue service, whose callers are
/// handlers, has nothing of.
extension AsyncAccessTokenService {
    @inlinable
    nonisolated(nonsending) final func waitForToken() async throws -> AccessToken {
        // The ticket lives in the caller's frame and is only touched under the lock, so that a cancellation needs
        // neither a hop nor a task: it comes before the waiter is there, and is seen below, or finds its ticket.
        let ticket = Atomic<Int>(0)
        // By name, or the closure leaves the caller's actor to suspend, and loses its place in the order (D2).
        let isolation = #isolation
        return try await withTaskCancellationHandler {
            try await unsafe withUnsafeThrowingContinuation(isolation: isolation) { unsafe enlist($0, ticket) }
        } onCancel: {
            withdraw(ticket)
        }
    }

    /// Makes a task a waiter, or answers it.
    @usableFromInline
    nonisolated final func enlist(
        _ continuation: UnsafeContinuation<AccessToken, any Error>,
        _ ticket: borrowing Atomic<Int>
    ) {
        let waiter = unsafe Waiter.task(continuation)
        let loads = LoadContext.loads
        var caller = CallerContext(
            priority: Task.currentPriority.rawValue,
            ownLoad: loads.flight(of: self),
            loads: loads
        )
        let hasJoined = decisions.withLock { decisions in
            caller.isCancelled = ticket.load(ordering: .relaxed) == Self.cancelledBefore
            guard let number = decisions.machine.join(waiter, by: caller) else { return false }
            ticket.store(number, ordering: .relaxed)
            return true
        }
        guard !hasJoined else { return }
        let now = clock.now
        decide { machine in
            caller.isCancelled = ticket.load(ordering: .relaxed) == Self.cancelledBefore
            let action = machine.retrieve(waiter, by: caller, at: now)
            ticket.store(action.ticket ?? 0, ordering: .relaxed)
            return action
        }
    }

    /// Answers a cancelled waiter, or keeps the task from becoming one.
    @usableFromInline
    nonisolated final func withdraw(_ ticket: borrowing Atomic<Int>) {
        var number = 0
        let waiter = decisions.withLock { decisions in
            number = ticket.exchange(Self.cancelledBefore, ordering: .relaxed)
            return decisions.machine.leave(number)
        }
        if let waiter {
            waiter.takeAsTask(.failure(cancellation))
        } else {
            decide { $0.cancel(number) }
        }
    }

    /// Stands in the place of a ticket, where it belongs to nobody, if the cancellation comes before the waiter.
    private static var cancelledBefore: Int { -1 }
}
