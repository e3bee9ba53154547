import Synchronization

/// Runs the steps of one schedule, one segment after the other.
///
/// Between two steps, and at each preemption point inside of one, it asks the chooser what runs next. Where that is not
/// the step itself, the thread of the step is held, and another one goes on.
@available(Executors, *)
final class Scheduler: @unchecked Sendable {  // Only the thread that has been handed the right to run touches it.
    let run: ScheduledRun
    var execution = Execution()
    private var chooser: any Chooser
    let surroundings: ScheduledRun.Surroundings
    let main: StepThread
    let threadState: Protected<ThreadState>
    /// The segment that runs now; its footprint is not complete yet.
    private var running = Event()
    private var isOver = false
    /// How often a step that loops has let another one go on.
    private var passedTurns = 0
    /// Whether a step loops, and nothing can end that.
    private var isStuck = false
    /// The step before which the last delay was.
    private var lastDelay = 0
    private var permanent: [(name: String, holds: @Sendable () -> Bool)] = []

    /// What any thread may ask or change.
    struct ThreadState: Sendable {
        var running: StepThread
        /// Whether the schedule was given up, and how many threads run since then.
        var isGivenUp = false
        var runningThreads = 0
        /// Where held steps had a lock.
        var lockSites: [Int] = []
    }

    private enum Next {
        case goOn
        case take(Candidate)
        case end
    }

    init(_ run: ScheduledRun, by chooser: any Chooser) {
        self.run = run
        self.chooser = chooser
        surroundings = run.surroundings
        main = surroundings.threads.ofExploration()
        threadState = Protected(ThreadState(running: main))
    }

    /// Runs until nothing can run any more, or the run has failed; returns the chooser as it is then.
    func runToEnd() -> any Chooser {
        permanent = run.script.withLock { $0.permanent }
        // From now on every task counts.
        _ = surroundings.census?.missedTasks()
        loop(on: main)
        execution.findings = run.state.withLock { $0.findings }
        execution.isPruned = execution.isPruned || isGivenUp
        execution.hasMetLock = isGivenUp
        execution.lockSites = threadState.withLock { $0.lockSites }
        return chooser
    }

    var isGivenUp: Bool { threadState.withLock { $0.isGivenUp } }

    // MARK: From step to step

    /// Takes one candidate after the other, until the right to run was handed to another thread.
    func loop(on thread: StepThread) {
        while true {
            if isGivenUp { return leaveGivenUpSchedule(thread) }
            switch next(at: nil) {
            case .goOn: continue
            case .take(let candidate):
                guard let held = candidate.heldStep else {
                    execute(candidate)
                    continue
                }
                guard resume(held, from: thread) else { return }
            case .end:
                guard let held = run.state.withLock({ $0.candidates.takeLastHeld() }) else { return endRun(on: thread) }
                guard resume(held, from: thread) else { return }
            }
        }
    }

    func execute(_ candidate: Candidate) {
        var mark: UInt8 = 0
        let base = unsafe withUnsafePointer(to: &mark) { UInt(bitPattern: $0) }
        threadState.withLock { $0.running }.stepBase.store(base, ordering: .relaxed)
        run.run(candidate)
        guard !isGivenUp else { return }
        let missed = surroundings.census?.missedTasks() ?? []
        if !missed.isEmpty { execution.missed.append((execution.steps, missed)) }
        endSegment()
        run.state.withLock { state in
            // After a drain that did nothing it takes another step until there can be more blocks.
            if case .drain = candidate.work, !state.isEventful { return }
            state.candidates.idleDrains = 0
            state.candidates.offerDrains()
        }
        guard !isOver else { return }
        for condition in permanent where !condition.holds() {
            run.state.withLock { $0.fail(.brokenInvariant, "“\(condition.name)” does not hold") }
        }
    }

    /// Lets the chooser hold the running step here.
    @inline(never)
    func preemptionPoint() {
        guard !isStuck, !isGivenUp else { return }
        let (hasHappened, isLooping) = run.state.withLock { state in
            let isLooping = state.segment.countPoint(atMost: run.maximumSteps)
            guard isLooping || !isOver && run.knowledge.steps.preempts else { return (false, false) }
            state.noteStatuses()
            // Where nothing has happened yet, the others could have gone before the segment began.
            let hasHappened =
                !state.segment.footprint.isEmpty || !state.candidates.madeReady.isEmpty
                || state.candidates.mayCancel(state.segment.footprint.lineage)
            return (hasHappened, isLooping)
        }
        guard hasHappened else { return }
        let lockSites = run.knowledge.lockSites
        let thread = threadState.withLock { $0.running }
        let base = thread.stepBase.load(ordering: .relaxed)
        // It is dear to ask at each point where it is.
        let isLocked =
            !lockSites.isEmpty && lockSites.contains(StackSite.here(above: base))
            || isSaidToBeLocked
        if !isLocked { endSegment() }
        let key = run.state.withLock { state in
            if isLocked { state.segment.passLockedPoint() } else { state.segment.passPoint() }
            return state.candidates.nextKey(rank: state.segment.job == nil ? nil : state.segment.participant)
        }
        guard case .take(let candidate) = next(at: key, isLocked: isLocked, isLooping: isLooping) else { return }
        if hold(key, on: thread, for: candidate, behindOthers: isLooping) {
            let site = StackSite.here(above: base)
            threadState.withLock { $0.lockSites.append(site) }
        }
    }

    /// Whether the schedule says that the step has a lock here; it says nothing where nothing else can run.
    private var isSaidToBeLocked: Bool {
        guard chooser.isAtLock else { return false }
        let point = Candidate.Key(rank: 0, arrival: 0)
        return run.state.withLock { Choice(from: &$0, at: point, isLocked: true).keys.count > 1 }
    }

    private func endSegment() {
        surroundings.progress.segments.add(1, ordering: .relaxed)
        let (footprint, isLocal) = run.state.withLock { state in
            let (footprint, isPrivate) = state.endSegment()
            let isLocal =
                footprint.isEmpty && (isPrivate || !run.knowledge.watchesCancellation)
                && !state.candidates.mayCancel(footprint.lineage)
            return (footprint, isLocal)
        }
        chooser.segmentEnded(footprint)
        running.footprint = footprint
        execution.events.append(running)
        if let choice = running.choice {
            execution.choices[choice].footprint = footprint
            execution.choices[choice].isLocal = isLocal
        }
        running.choice = nil
    }

    // MARK: The choice

    /// Decides what runs next: between two steps, or at a preemption point, which stands for the step itself.
    ///
    /// - Parameters:
    ///   - isLocked: whether the subject has a lock here that others need, and the step cannot be held.
    ///   - isLooping: whether the step has passed so many points that it may wait for others.
    private func next(at point: Candidate.Key?, isLocked: Bool = false, isLooping: Bool = false) -> Next {
        if isLooping, let other = passTurn(isLocked: isLocked) { return .take(other) }
        guard !isOver else { return point == nil ? .end : .goOn }
        // All of it at one moment: a thread outside of control may add candidates meanwhile.
        let options = run.state.withLock { state in
            state.failure == nil ? Choice(from: &state, at: point, isLocked: isLocked) : nil
        }
        guard let options, !hasEscaped() else { return end(at: point) }
        if options.keys.isEmpty {
            // A dispatch queue may have got blocks, or something comes from outside.
            let mayGoOn = run.state.withLock { $0.candidates.offerLastDrains() } || run.waitForArrivalFromOutside()
            return mayGoOn ? .goOn : end(at: nil)
        }
        if let point, options.keys.count == 1 {
            if !isLocked { running = Event(arrival: point.arrival, start: options.start) }
            return .goOn
        }
        if point == nil { execution.steps += 1 }
        guard !isLivelock(), let position = choose(from: options) else { return end(at: point) }
        if point != nil, position == 0 { return .goOn }
        return take(position, of: options, at: point)
    }

    /// What has waited longest, where the running step loops and may wait for that; `nil` if nothing else can run.
    ///
    /// Nothing is chosen here. Also behind the end of the schedule, where the step is to come to its own end.
    private func passTurn(isLocked: Bool) -> Candidate? {
        let limit = run.maximumSteps
        return run.state.withLock { state in
            guard !isLocked, passedTurns < limit, let other = state.candidates.takeOldest() else {
                guard state.segment.passedPoints > limit else { return nil }
                state.fail(
                    .livelock,
                    """
                    a step has passed \(limit) preemption points and goes on without a suspension; if it is to pass \
                    more of them, raise maximumSteps
                    """
                )
                (isOver, isStuck) = (true, true)
                return nil
            }
            passedTurns += 1
            execution.steps += 1
            execution.isEndedInOrder = true
            execution.mix(other.participant)
            running = Event(arrival: other.key.arrival, start: state.candidates.arrivals)
            state.recordStep(execution.steps, of: other, choice: 0, of: 1)
            return other
        }
    }

    /// Nothing more is chosen; steps that have begun still come to their ends.
    private func end(at point: Candidate.Key?) -> Next {
        isOver = true
        return point == nil ? .end : .goOn
    }

    private func hasEscaped() -> Bool {
        guard let escape = run.escapes.first else { return false }
        run.state.withLock { $0.fail(.escape, escape) }
        return true
    }

    private func isLivelock() -> Bool {
        let limit = run.maximumSteps
        // Where a step that is ready never gets its turn, the schedule is to blame, and not the subject.
        guard execution.steps - lastDelay > limit else { return false }
        run.state.withLock { $0.fail(.livelock, "still going on after \(limit) steps without a delay") }
        return true
    }

    /// Whether the run has taken so many steps that it comes to its end in first-in-first-out order.
    private var isLong: Bool { execution.steps > run.maximumSteps }

    /// Asks the chooser, and notes the choice; `nil` if the run ends here.
    private func choose(from options: Choice) -> Int? {
        guard !isLong else { return takeOldest(of: options) }
        execution.isTruncated = execution.isTruncated || options.isTruncated
        execution.mix(options.keys.count)
        let position: Int
        switch chooser.choose(among: options.keys, fingerprint: execution.fingerprint) {
        case .take(let chosen): position = options.isLocked ? 0 : chosen
        case .diverge:
            run.state.withLock { [step = execution.steps] in
                $0.fail(.divergedReplay, "the choices do not fit at step \(step)")
            }
            return nil
        case .prune:
            execution.isPruned = true
            return nil
        }
        if position != 0 { lastDelay = execution.steps }
        let isChoice = options.keys.count > 1
        // At a lock the segment does not end.
        if !options.isLocked, !options.isOfValues {
            let choice = isChoice ? execution.choices.count : nil
            running = Event(arrival: options.keys[position].arrival, start: options.start, choice: choice)
        }
        if isChoice {
            var choice = options
            (choice.digit, choice.asleep, choice.fingerprint) = (UInt8(position), chooser.asleep, execution.fingerprint)
            execution.choices.append(choice)
            surroundings.record.schedule.append(Schedule.character(of: choice.scheduleDigit))
        }
        return position
    }

    /// Takes what has waited longest; nothing else is tried there.
    private func takeOldest(of options: Choice) -> Int {
        if options.keys.count > 1 { execution.isEndedInOrder = true }
        if !options.isLocked, !options.isOfValues {
            running = Event(arrival: options.keys[0].arrival, start: options.start)
        }
        return 0
    }

    /// Lets the schedule choose one of so many values, in the setup or in a step.
    func chooseValue(among count: Int) -> Int {
        guard count > 1, !isOver, !isGivenUp else { return 0 }
        let options = run.state.withLock { Choice(ofValues: count, in: &$0) }
        guard let position = choose(from: options) else {
            isOver = true
            return 0
        }
        return position
    }

    private func take(_ position: Int, of options: Choice, at point: Candidate.Key?) -> Next {
        if point != nil { execution.steps += 1 }
        let candidate = run.state.withLock { state in
            let candidate = state.candidates.take(options.keys[position])
            if let candidate {
                state.recordStep(execution.steps, of: candidate, choice: position, of: options.keys.count)
            }
            return candidate
        }
        // The schedule was given up meanwhile, and with it a held step.
        guard let candidate else { return end(at: point) }
        execution.mix(candidate.participant)
        return .take(candidate)
    }
}
