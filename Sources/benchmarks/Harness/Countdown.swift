import Dispatch
import Synchronization

/// Lets a thread wait until so many others have finished.
final class Countdown: Sendable {
    private let left: Atomic<Int>
    private let done = DispatchSemaphore(value: 0)

    init(_ count: Int) {
        left = Atomic(count)
    }

    func signal() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
    }

    var isZero: Bool { left.load(ordering: .acquiring) == 0 }

    /// Blocks the thread: not to be called from the pool.
    func wait() {
        done.wait()
    }
}
