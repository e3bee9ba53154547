/// What the schedule decides beside the order of steps.
@available(Executors, *)
extension ScheduledRun {
    /// One of some values, each of which is tried: a server's answer, a number that the subject takes for random.
    ///
    /// ```swift
    /// let answer = run.choose("the server says", from: [200, 401, 503])
    /// ```
    ///
    /// The value belongs to the schedule, and a replay chooses the same one. To be called in the setup or in a step;
    /// where nothing is explored, as in an invariant, it is the first value.
    ///
    /// - Parameters:
    ///   - name: what the trace and the schedule call the choice.
    ///   - values: at least one, and at most 36.
    public func choose<Value>(_ name: String, from values: [Value]) -> Value {
        precondition(1...Schedule.radix ~= values.count, "\(name): between 1 and \(Schedule.radix) values are expected")
        guard isControlling else {
            reportEscape("“\(name)” was chosen on another thread")
            return values[0]
        }
        guard state.withLock({ [.preparing, .exploring].contains($0.phase) }),
            let scheduler = scheduler.withLock({ $0 })
        else { return values[0] }
        let value = values[scheduler.chooseValue(among: values.count)]
        state.withLock { $0.record(.note, by: $0.acting, "\(name): \(value)") }
        return value
    }

    /// Says that time passes only where nothing else can happen: no task is ever slower than a timer.
    ///
    /// Without this, a task that is ready may wait for longer than another one sleeps, as on a busy machine. With it
    /// there are far fewer schedules. To be called in the setup.
    public func letTimePassOnlyWhenIdle() {
        state.withLock { $0.timeWaitsForOthers = true }
    }

    /// Tries each operation with a medium and with a high priority, unless it has one of its own.
    ///
    /// An actor serves those who wait for it by their priorities, so its callers come in orders that callers of one
    /// priority never show. To be called in the setup, before the operations are added.
    public func varyPriorities() {
        state.withLock { $0.variesPriorities = true }
    }
}
