#if THREAD_SANITIZER
import Foundation
#else
import Synchronization
#endif

/// State behind a lock that is never held while code of others runs.
///
/// The only lock of this module. The thread sanitizer does not understand `Mutex` and reports races
/// that are none, so a build for it defines `THREAD_SANITIZER` and gets an `NSLock` of the same spelling.
#if THREAD_SANITIZER
@available(Executors, *)
package final class Protected<State: Sendable>: @unchecked Sendable {  // The state is touched under the lock only.
    private let lock = NSLock()
    private var state: State

    package init(_ state: State) {
        self.state = state
    }

    package func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}
#else
@available(Executors, *)
package final class Protected<State: Sendable>: Sendable {
    private let mutex: Mutex<State>

    package init(_ state: State) {
        mutex = Mutex(state)
    }

    // Not inlined: after an `await`, a `Mutex` inlined into an async function may take the thread for the former one.
    @inline(never)
    package func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        try mutex.withLock { (state: inout sending State) throws(Failure) -> Result in try body(&state) }
    }
}
#endif
