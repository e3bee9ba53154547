/// State behind a lock that is never held while code of others runs.
///
/// The only lock of this module. It is no `Mutex`: without the optimizer, each use of one in generic code looks up the
/// type of its state, and the thread sanitizer reports races that are none.
@available(Executors, *)
package final class Protected<State: Sendable>: @unchecked Sendable {  // The state is touched under the lock only.
    private let lock = SystemLock()
    private var state: State

    package init(_ state: State) {
        self.state = state
    }

    // Not inlined: after an `await`, a lock inlined into an async function may take the thread for the former one.
    @inline(never)
    package func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}
