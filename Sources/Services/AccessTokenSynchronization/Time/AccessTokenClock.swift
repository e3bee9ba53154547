public import AccessTokenFoundation

/// Where a service gets its time from: the wall clock, and one-shot timers.
///
/// Expiry is a matter of the wall clock, also while the device sleeps. A timer counts elapsed time:
/// setting the wall clock neither shortens nor prolongs a load's deadline.
///
/// The services come with ``SystemClock``; tests use the `ManualClock` of `AccessTokenContract`.
public protocol AccessTokenClock: Sendable {
    /// The wall-clock time. It may jump, forward or back; called on every retrieval, from any thread.
    var now: Date { get }

    /// Calls `action` once, `delay` seconds from now, unless the timer is cancelled before.
    ///
    /// **Concurrency** `action` is called on any thread or task, but not by `schedule` itself, which a service calls in
    /// the middle of a decision. On another thread, `action` may run before `schedule` has returned. `action` may resume
    /// tasks: an executor whose `enqueue` blocks holds up the thread, and the timers that share it. `action` may set
    /// the next timer: a service counts a deadline in two halves. A clock that is moved by a test goes from timer to
    /// timer, so that the second one counts from the instant at which the first was due.
    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer
}

/// A one-shot timer of an ``AccessTokenClock``.
public struct AccessTokenTimer: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Creates a timer from what cancels it.
    public init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = onCancel
    }

    /// Keeps the timer from firing, and releases what its action holds; does nothing once it has fired.
    public func cancel() {
        onCancel()
    }
}

extension TimeInterval {
    /// Longer than any load and any life of a token, and small enough for every clock's arithmetic: in seconds.
    package static let century: TimeInterval = 3_155_760_000
}
