/// Something that can be cancelled before it is there.
///
/// A timer, a task or a call is made after the decision that it has to be made. The cancellation may come first.
package final class LateBound<Handle: Sendable>: Sendable {
    private let state = Locked<(handle: Handle?, isCancelled: Bool)>((nil, false))
    private let cancelHandle: @Sendable (Handle) -> Void

    /// - Parameter cancelHandle: called once, with the handle, as soon as it is there and was cancelled.
    package init(cancelledBy cancelHandle: @escaping @Sendable (Handle) -> Void) {
        self.cancelHandle = cancelHandle
    }

    /// What was made, if it is there.
    package var handle: Handle? { state.withLock { $0.handle } }

    /// Says that it is there.
    package func bind(_ handle: Handle) {
        let isCancelled = state.withLock { state in
            state.handle = handle
            return state.isCancelled
        }
        if isCancelled { cancelHandle(handle) }
    }

    /// Cancels it, now or when it is there.
    package func cancel() {
        let handle = state.withLock { state in
            guard !state.isCancelled else { return Handle?.none }
            state.isCancelled = true
            return state.handle
        }
        if let handle { cancelHandle(handle) }
    }
}
