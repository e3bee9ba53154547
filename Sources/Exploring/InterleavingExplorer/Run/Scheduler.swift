import Synchronization

/// Runs the steps of one schedule, one segment after the other.
///
/// Between two steps, and at each preemption point inside of one, it asks the chooser what runs next. Where that is not
/// the step itself, the thread of the step is held, and another one goes on.
@available(Executors, *)
final class Scheduler: @unchecked Sendable {  // Only the thread that has been handed the right to run touches it.
    let run: ScenarioRun
    var execution = Execution()
    private var chooser: any Chooser
    let threads: StepThreads
    let lockSites: LockSites
    let progress: Progress
    let main: StepThread
    let threadState: Protected<ThreadState>
    /// The index of the choice that has led to the segment that runs now.
    private var choice: Int?
    /// What runs now, and how many had become ready when it began.
    private var running = (arrival: 0, start: 0)
    private var isOver = false
    private var drains = 0
    /// Whether a task may find itself cancelled by another one.
    private let watchesCancellation: Bool
    private let permanent: [(name: String, holds: @Sendable () -> Bool)]

    /// What any thread may ask or change.
    struct ThreadState: Sendable {
        var running: StepThread
        /// Whether the schedule was given up, and how many threads run since then.
        var isGivenUp = false
        var loose = 0
        /// Where steps were let go; `nil` stands for a site that is not known.
        var lockSites: [Int?] = []
    }

    /// A preemption point at which the running step is.
    private struct Point {
        /// Stands for the step itself among the candidates.
        let key: Candidate.Key
        /// Whether the subject has a lock here that others need: the step cannot be held.
        let isLocked: Bool
    }

    private enum Next {
        case goOn
        case take(Candidate)
        case end
    }

    init(_ run: ScenarioRun, by chooser: any Chooser) {
        self.run = run
        self.chooser = chooser
        threads = run.surroundings.threads
        lockSites = run.surroundings.lockSites
        progress = run.surroundings.progress
        watchesCancellation = run.watchesCancellation
        main = threads.ofExploration()
        threadState = Protected(ThreadState(running: main))
        permanent = run.script.withLock { $0.permanent }
    }

    /// Runs until nothing can run any more, or the run has failed; returns the chooser as it is then.
    func runToEnd() -> any Chooser {
        // From now on every task counts.
        _ = run.surroundings.census.missedTasks()
        loop(on: main)
        execution.lockSites = threadState.withLock { $0.lockSites }
        execution.isPruned = execution.isPruned || isGivenUp
        execution.hasMetLock = isGivenUp
        return chooser
    }

    var isGivenUp: Bool { threadState.withLock { $0.isGivenUp } }

    // MARK: From step to step

    /// Takes one candidate after the other, until the right to run was handed to another thread.
    func loop(on thread: StepThread) {
        while true {
            if isGivenUp { return comeBack(thread) }
            switch next(at: nil) {
            case .goOn: continue
            case .take(let candidate):
                guard let held = candidate.heldStep else {
                    execute(candidate)
                    continue
                }
                guard hand(over: held, from: thread) else { return }
            case .end:
                guard let held = run.state.withLock({ $0.candidates.takeLastHeld() }) else { return endRun(on: thread) }
                guard hand(over: held, from: thread) else { return }
            }
        }
    }

    /// Runs a candidate to the end of its step.
    func execute(_ candidate: Candidate) {
        run.run(candidate)
        guard !isGivenUp else { return }
        let missed = run.surroundings.census.missedTasks()
        if !missed.isEmpty { execution.missed.append(.init(step: execution.steps, ids: missed)) }
        endSegment()
        run.state.withLock { state in
            // Whether blocks are left cannot be seen. After a drain that did nothing it takes another step.
            if case .drain = candidate.work, !state.isEventful { return }
            drains = 0
            state.offerDrains()
        }
        guard !isOver else { return }
        for condition in permanent where !condition.holds() {
            run.state.withLock { $0.fail(.brokenInvariant, "“\(condition.name)” does not hold") }
        }
    }

    /// Lets the chooser hold the running step here.
    @inline(never)
    func preemptionPoint() {
        guard !isOver, !isGivenUp else { return }
        let hasHappened = run.state.withLock { state in
            state.noteStatuses()
            // Where nothing has happened yet, the others could have gone before the segment began.
            return !state.segment.footprint.isEmpty || !state.candidates.madeReady.isEmpty
                || state.canBeCancelled(state.segment.footprint.lineage)
        }
        guard hasHappened else { return }
        // Asked for here alone: two calls of one function would come from two sites.
        let site = lockSites.areWatched ? LockSites.here() : nil
        let isLocked = site.map(lockSites.contains) ?? false
        if !isLocked { endSegment() }
        let key = run.state.withLock { state in
            let arrival = state.candidates.nextArrival()
            if isLocked { state.segment.passLockedPoint() } else { state.segment.followsPoint = true }
            let rank = state.segment.job == nil ? -arrival : state.segment.participant
            return Candidate.Key(rank: rank, arrival: arrival)
        }
        guard case .take(let candidate) = next(at: Point(key: key, isLocked: isLocked)) else { return }
        if hold(key, for: candidate) { threadState.withLock { $0.lockSites.append(site) } }
    }

    private func endSegment() {
        progress.segments.add(1, ordering: .relaxed)
        let (footprint, isLocal, known) = run.state.withLock { state in
            let (footprint, isPrivate) = state.endSegment()
            execution.findings = state.findings
            let isLocal =
                footprint.isEmpty && (isPrivate || !watchesCancellation && state.isNobodyHeld)
                && !state.canBeCancelled(footprint.lineage)
            return (footprint, isLocal, state.known)
        }
        chooser.segmentEnded(footprint, known: known)
        execution.events.append(
            Event(arrival: running.arrival, start: running.start, choice: choice, footprint: footprint)
        )
        if let choice {
            execution.choices[choice].footprint = footprint
            execution.choices[choice].isLocal = isLocal
        }
        choice = nil
    }

    // MARK: The choice

    /// What there is to choose from, at one moment.
    private struct Options {
        let keys: [Candidate.Key]
        /// Whether there is more than a digit of a schedule can say.
        let isTruncated: Bool
        let known: Footprint.Known
        let start: Int
        let hasTimers: Bool

        /// `nil` after a failure.
        init?(_ state: RunState, at point: Point?) {
            guard state.failure == nil else { return nil }
            let own = point.map { [$0.key] } ?? []
            // At a lock they only show what is left out there.
            let late = point?.isLocked == true ? state.candidates.madeReady.map { $0.key } : []
            let count = own.count + state.candidateCount + late.count
            let width = min(count, Schedule.radix)
            let others = state.candidates.keys(atMost: width - own.count, withTimers: !state.unfinished.isEmpty)
            keys = Array((own + others + late).prefix(width))
            isTruncated = count > width
            known = state.known
            start = state.candidates.arrivals
            hasTimers = state.hasTimersToFire
        }
    }

    /// Decides what runs next: between two steps, or at a point inside of one.
    private func next(at point: Point?) -> Next {
        guard !isOver else { return point == nil ? .end : .goOn }
        // All of it at one moment: a thread outside of control may add and take away candidates meanwhile.
        guard let options = run.state.withLock({ Options($0, at: point) }), !hasEscaped() else { return end(at: point) }
        if options.keys.isEmpty { return mayGoOnLater() ? .goOn : end(at: nil) }
        if let point, options.keys.count == 1 {
            running = (point.key.arrival, options.start)
            return .goOn
        }
        if point == nil { execution.steps += 1 }
        guard !isLivelock(), let position = choose(from: options, at: point) else { return end(at: point) }
        if point != nil, position == 0 { return .goOn }
        return take(position, of: options, at: point)
    }

    /// Nothing more is chosen; steps that have begun still come to their ends.
    private func end(at point: Point?) -> Next {
        isOver = true
        return point == nil ? .end : .goOn
    }

    private func hasEscaped() -> Bool {
        guard let escape = run.escapes.first else { return false }
        run.state.withLock { $0.fail(.escape, escape) }
        return true
    }

    private func isLivelock() -> Bool {
        let limit = run.explorer.maximumSteps
        guard execution.steps > limit else { return false }
        run.state.withLock { $0.fail(.livelock, "still going on after \(limit) steps") }
        return true
    }

    /// Where nothing can run: whether a dispatch queue may have got blocks, or something comes from outside.
    private func mayGoOnLater() -> Bool {
        if drains < SuspendedQueue.longestChain, run.state.withLock({ $0.offerDrains() }) {
            drains += 1
            return true
        }
        return run.waitsForNothing()
    }

    /// Asks the chooser, and notes the choice; `nil` if the run ends here.
    private func choose(from options: Options, at point: Point?) -> Int? {
        execution.isTruncated = execution.isTruncated || options.isTruncated
        execution.mix(options.keys.count)
        var position: Int
        switch chooser.choose(among: options.keys, fingerprint: execution.fingerprint) {
        case .take(let chosen): position = chosen
        case .diverge:
            run.state.withLock { [step = execution.steps] in
                $0.fail(.divergedReplay, "the choices do not fit at step \(step)")
            }
            return nil
        case .prune:
            execution.isPruned = true
            return nil
        }
        let isLocked = point?.isLocked ?? false
        if isLocked, position != 0 {
            guard chooser.isFree else {
                execution.isPruned = true
                return nil
            }
            position = 0
        }
        note(position, of: options, isLocked: isLocked)
        return position
    }

    private func note(_ position: Int, of options: Options, isLocked: Bool) {
        if options.keys.count > 1 {
            if !isLocked { choice = execution.choices.count }
            execution.choices.append(
                Choice(
                    digit: UInt8(position),
                    arrivals: options.keys.map { $0.arrival },
                    asleep: chooser.asleep,
                    known: options.known,
                    fingerprint: execution.fingerprint,
                    hasTimers: options.hasTimers,
                    isLocked: isLocked
                )
            )
            run.state.withLock { $0.digits.append(UInt8(position)) }
        }
        // At a lock the segment does not end.
        if !isLocked { running = (options.keys[position].arrival, options.start) }
    }

    private func take(_ position: Int, of options: Options, at point: Point?) -> Next {
        if point != nil { execution.steps += 1 }
        let candidate = run.state.withLock { state in
            state.take(
                at: point == nil ? position : position - 1,
                key: options.keys[position],
                choice: position,
                of: options.keys.count,
                step: execution.steps
            )
        }
        guard let candidate else {
            // A thread outside of control has taken it away meanwhile: this run says nothing, and the search is not complete.
            execution.isTruncated = true
            execution.isPruned = true
            return end(at: point)
        }
        execution.mix(candidate.participant)
        return .take(candidate)
    }
}
