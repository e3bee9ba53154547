import Dispatch
import Foundation

/// State behind a lock; an `NSLock`, since the thread sanitizer understands it.
final class Shared<State: Sendable>: @unchecked Sendable {  // The state is touched under the lock only.
    private let lock = NSLock()
    private var state: State

    init(_ state: State) {
        self.state = state
    }

    func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}

extension Shared where State == Void {
    /// Where jobs of the layout tests run.
    static let queue = DispatchQueue(label: "jobs")
}
