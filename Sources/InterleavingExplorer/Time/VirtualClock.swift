/// Time that passes only when a schedule says so.
///
/// A timer that is due next is a candidate like any other; in first-in-first-out order it comes last, so that
/// time passes only when nothing else can happen. When all operations have ended, timers that are left do not
/// fire any more.
public struct VirtualClock: Clock, Sendable {
    /// A moment in virtual time, which begins at zero with every run.
    public struct Instant: InstantProtocol {
        /// The time since the run began.
        public let offset: Duration

        /// The moment so long after the run began.
        public init(offset: Duration) {
            self.offset = offset
        }

        /// The moment that is so much later.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// The time from here to another moment.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Whether a moment is earlier than another.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.offset < right.offset
        }
    }

    let run: ScenarioRun

    /// The present moment.
    public var now: Instant {
        run.board.withLock { board in
            // Whoever looks at the clock notices whether a timer has fired before.
            board.isNoticed = true
            return Instant(offset: board.now)
        }
    }

    /// The smallest step of time.
    public var minimumResolution: Duration {
        .nanoseconds(1)
    }

    /// Lets time pass at once; timers that are due by then can fire from now on.
    public func advance(by duration: Duration) {
        run.board.withLock { board in
            board.now += duration
            board.isNoticed = true
        }
    }

    /// Calls back once, so much later, unless the timer is cancelled.
    @discardableResult
    public func schedule(
        after delay: Duration,
        _ name: String = "a timer fires",
        _ action: @escaping @Sendable () -> Void
    ) -> VirtualTimer {
        add(at: now.offset + delay, name, action)
    }

    /// Suspends the current task until a moment of virtual time.
    ///
    /// **Cancellation.** Throws `CancellationError` at once.
    public nonisolated(nonsending) func sleep(
        until deadline: Instant,
        tolerance: Duration? = nil
    ) async throws {
        let sleeper = Sleeper()
        let timer = add(at: deadline.offset, "sleep ends") { sleeper.wake() }
        try await withTaskCancellationHandler {
            try await sleeper.sleep()
        } onCancel: {
            timer.cancel()
            sleeper.cancel()
        }
    }

    private func add(
        at deadline: Duration,
        _ name: String,
        _ fire: @escaping @Sendable () -> Void
    ) -> VirtualTimer {
        guard run.isControlling else {
            run.reportEscape("the timer “\(name)” was set by another thread")
            return VirtualTimer(run: run, number: 0)
        }
        let number = run.board.withLock { board in
            board.addTimer(at: deadline, name, fire)
        }
        return VirtualTimer(run: run, number: number)
    }
}
