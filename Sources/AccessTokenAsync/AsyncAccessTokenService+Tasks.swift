import AccessTokenCore
public import Synchronization

/// How a task becomes a waiter, and is one no more when it is cancelled: the queue service, whose callers are handlers,
/// has nothing like it.
extension AsyncAccessTokenService {
    @inlinable
    nonisolated(nonsending) final func waitForToken() async throws -> AccessToken {
        // It lives in the caller's frame and is only touched under the lock, so that a cancellation needs neither a hop nor
        // a task. Cancellation may come before the waiter is registered; `enlist` sees it then. Later cancellations find
        // the waiter.
        let registration = Atomic(Registration.none)
        // By name, or the closure leaves the caller's actor to suspend, and loses its place in the order (D2).
        let isolation = #isolation
        return try await withTaskCancellationHandler {
            try await unsafe withUnsafeThrowingContinuation(isolation: isolation) { unsafe enlist($0, registration) }
        } onCancel: {
            withdraw(registration)
        }
    }

    /// Makes a task a waiter, or answers it.
    @usableFromInline
    nonisolated final func enlist(
        _ continuation: UnsafeContinuation<AccessToken, any Error>,
        _ registration: borrowing Atomic<Registration>
    ) {
        retrieve(unsafe .task(continuation)) {
            registration.load(ordering: .relaxed) == .cancelled
        } register: { waiter in
            registration.store(.waiting(waiter), ordering: .relaxed)
        }
    }

    /// Answers a cancelled waiter, or keeps the task from becoming one.
    @usableFromInline
    nonisolated final func withdraw(_ registration: borrowing Atomic<Registration>) {
        cancel { registration.exchange(.cancelled, ordering: .relaxed).waiter }
    }

    /// How far a task has come on its way to be a waiter.
    @usableFromInline
    enum Registration: Equatable, Sendable {
        case none
        case waiting(WaiterID)
        case cancelled

        var waiter: WaiterID? {
            guard case .waiting(let waiter) = self else { return nil }
            return waiter
        }
    }
}

/// Waiters are numbered from 1.
extension AsyncAccessTokenService.Registration: AtomicRepresentable {
    @usableFromInline
    typealias AtomicRepresentation = Int.AtomicRepresentation

    @usableFromInline
    static func encodeAtomicRepresentation(_ value: consuming Self) -> AtomicRepresentation {
        switch value {
        case .none: Int.encodeAtomicRepresentation(0)
        case .waiting(let waiter): Int.encodeAtomicRepresentation(waiter.number)
        case .cancelled: Int.encodeAtomicRepresentation(-1)
        }
    }

    @usableFromInline
    static func decodeAtomicRepresentation(_ representation: consuming AtomicRepresentation) -> Self {
        switch Int.decodeAtomicRepresentation(representation) {
        case 0: .none
        case -1: .cancelled
        case let number: .waiting(WaiterID(number: number))
        }
    }
}
