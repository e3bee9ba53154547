import AccessTokenCore

/// One place for each key in the line of an endpoint, for all loads of one store.
///
/// A service whose load has waited for too long begins another one at its next call. Without this, a user's loads would
/// be in line many times, and all but one of them for nothing.
final class PlacesInLine: Sendable {
    private struct Waiter: Sendable {
        let number: Int
        let continuation: CheckedContinuation<Bool, any Error>
    }

    private struct State: Sendable {
        /// Those who wait for a place, in the order of their arrival; a key is here as long as its place is taken.
        var waiters: [String?: [Waiter]] = [:]
        var lastNumber = 0
    }

    private let state = Locked(State())

    /// How many loads wait for a place to be left.
    var waiting: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

    /// How many places are taken.
    var taken: Int { state.withLock { $0.waiters.count } }

    /// Takes the place, and returns whether somebody else had it before: look again then.
    ///
    /// Throws `CancellationError` as soon as the task is cancelled, and what ``fail(_:_:)`` is called with.
    func take(_ key: String?) async throws -> Bool {
        // Taken before the wait begins: the waiter can be cancelled while it is still arriving.
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Bool, any Error>? in
                    // A cancellation before this moment is seen here. A later one finds the waiter in the list.
                    guard !Task.isCancelled else { return .failure(CancellationError()) }
                    guard state.waiters[key] != nil else {
                        state.waiters[key] = []
                        return .success(false)
                    }
                    state.waiters[key]?.append(Waiter(number: number, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters[key]?.firstIndex { $0.number == number }.map { state.waiters[key]?.remove(at: $0) }
            }
            waiter??.continuation.resume(throwing: CancellationError())
        }
    }

    /// Hands the place to the load of this key that has waited for the longest time.
    func leave(_ key: String?) {
        let next = state.withLock { state -> Waiter? in
            guard state.waiters[key]?.isEmpty == false else {
                state.waiters[key] = nil
                return nil
            }
            return state.waiters[key]?.removeFirst()
        }
        next?.continuation.resume(returning: true)
    }

    /// Leaves the place, and tells all loads that wait for it why none of them needs it.
    func fail(_ key: String?, _ error: any Error) {
        let waiters = state.withLock { $0.waiters.removeValue(forKey: key) } ?? []
        for waiter in waiters { waiter.continuation.resume(throwing: error) }
    }
}
