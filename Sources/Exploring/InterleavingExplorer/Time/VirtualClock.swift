/// Time that passes only when a schedule says so.
///
/// A timer that is due next is a candidate like any other; in first-in-first-out order it comes last:
/// time passes only when nothing else can happen. When all operations have ended, timers that are left do not
/// fire any more.
@available(Executors, *)
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

    let run: ScheduledRun

    /// The present moment.
    public var now: Instant {
        defer { run.preemptionPoint() }
        return run.state.withLock { state in
            // The time tells whether a timer has fired before.
            state.touchMarks(isTime: true)
            return Instant(offset: state.candidates.now)
        }
    }

    /// The smallest step of time.
    public var minimumResolution: Duration {
        .nanoseconds(1)
    }

    /// Calls back once, so much later, unless the timer is cancelled.
    @discardableResult
    public func schedule(
        after delay: Duration,
        _ name: String = "a timer fires",
        _ action: @escaping @Sendable () -> Void
    ) -> VirtualTimer {
        add(at: now.offset + delay, name, "sets “\(name)” for", action)
    }

    /// Suspends the current task until a moment of virtual time.
    ///
    /// **Cancellation.** Throws `CancellationError` at once.
    public nonisolated(nonsending) func sleep(
        until deadline: Instant,
        tolerance: Duration? = nil
    ) async throws {
        let (alarms, alarm) = AsyncStream.makeStream(of: Void.self)
        let isTime = Protected(false)
        let timer = add(at: deadline.offset, "sleep ends", "sleeps until") {
            isTime.withLock { $0 = true }
            alarm.finish()
        }
        await withTaskCancellationHandler {
            for await _ in alarms {}
        } onCancel: {
            timer.cancel()
        }
        if !isTime.withLock({ $0 }) { throw CancellationError() }
    }

    private func add(
        at deadline: Duration,
        _ name: String,
        _ setting: @autoclosure () -> String,
        _ fire: @escaping @Sendable () -> Void
    ) -> VirtualTimer {
        guard run.isControlling else {
            run.reportEscape("the timer “\(name)” was set by another thread")
            return VirtualTimer(run: run, number: 0)
        }
        let number = run.state.withLock { state in
            state.touchMarks(isTime: true)
            if state.phase == .exploring, state.unfinished.isEmpty { state.findings.setsTimerTooLate = true }
            state.record(.timer, by: state.acting, "\(setting()) \(deadline)")
            return state.candidates.addTimer(at: deadline, name, Action(fire))
        }
        run.preemptionPoint()
        return VirtualTimer(run: run, number: number)
    }
}

/// A one-shot timer of a virtual clock.
@available(Executors, *)
public struct VirtualTimer: Sendable {
    let run: ScheduledRun
    let number: Int

    /// Makes sure that the timer does not fire from now on.
    public func cancel() {
        let isControlling = run.isControlling
        // The timer's closure goes behind the lock: with it an object may go that calls the run at its end.
        let (_, escaped) = run.state.withLock { state -> (Candidate?, String?) in
            // No other thread takes away what the schedule may choose.
            if !isControlling, state.phase == .exploring { return (nil, state.candidates.label(ofTimer: number)) }
            let timer = state.candidates.removeTimer(number)
            if timer != nil { state.touchMarks(isTime: true) }
            return (timer, nil)
        }
        if let escaped { run.reportEscape("the timer “\(escaped)” was cancelled by another thread") }
        run.preemptionPoint()
    }
}
