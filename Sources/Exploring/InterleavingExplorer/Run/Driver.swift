import Synchronization

/// Runs the steps of one schedule, from point to point.
///
/// Between two steps, and at each preemption point inside of one, it asks the chooser what runs next. Where that is not
/// the step itself, the thread of the step is held, and another one goes on.
final class Driver: @unchecked Sendable {  // Only the thread that has been handed the right to run touches it.
    let run: ScenarioRun
    private(set) var drive = Drive()
    private var chooser: any Chooser
    let threads: StepThreads
    let places: LockedPlaces
    let pulse: Pulse
    let main: StepThread
    let state: Protected<State>
    /// The frame of the choice whose consequences run now.
    private var frame: Int?
    /// What runs now, and how many had become ready when it began.
    private var running = (arrival: 0, start: 0)
    private var isOver = false
    private var drains = 0
    /// Whether a task may find itself cancelled by another one.
    private let watchesCancellation: Bool
    private let permanent: [(name: String, holds: @Sendable () -> Bool)]

    /// What any thread may ask or change.
    struct State: Sendable {
        var running: StepThread
        /// The threads that run, if more than one had to: the schedule is given up then.
        var strays = 0
        var hasCollided = false
    }

    private enum Choice {
        case goOn
        case take(Candidate)
        case over
    }

    init(_ run: ScenarioRun, by chooser: any Chooser) {
        self.run = run
        self.chooser = chooser
        threads = run.surroundings.threads
        places = run.surroundings.places
        pulse = run.surroundings.pulse
        watchesCancellation = run.watchesCancellation
        main = threads.ofExploration()
        state = Protected(State(running: main))
        permanent = run.script.withLock { $0.permanent }
    }

    /// Runs until nothing can run any more, or the run has failed; returns the chooser as it is then.
    func runToEnd() -> any Chooser {
        // From now on every task counts.
        _ = run.surroundings.census.missedTasks()
        loop(on: main)
        drive.hasCollided = state.withLock { $0.hasCollided }
        drive.isPruned = drive.isPruned || drive.hasCollided
        return chooser
    }

    // MARK: From step to step

    /// Takes one candidate after the other, until the right to run was handed to another thread.
    func loop(on thread: StepThread) {
        while true {
            if state.withLock({ $0.hasCollided }) {
                return arrive(thread)
            }
            switch choose(at: nil, isLocked: false) {
            case .goOn: continue
            case .take(let candidate):
                if case .rest(let held) = candidate.work {
                    if thread !== main { threads.add(thread) }
                    resume(held)
                    guard thread === main else { return }
                    _ = thread.waitForOrder()
                } else {
                    execute(candidate)
                }
            case .over:
                if let held = run.board.withLock({ $0.takeHeld() }) {
                    if thread !== main { threads.add(thread) }
                    resume(held)
                    guard thread === main else { return }
                    _ = thread.waitForOrder()
                } else if thread === main {
                    return
                } else {
                    threads.add(thread)
                    willRun(on: main)
                    return main.hand(.goOn)
                }
            }
        }
    }

    /// Runs a candidate to the end of its step.
    func execute(_ candidate: Candidate) {
        run.run(candidate)
        let missed = run.surroundings.census.missedTasks()
        if !missed.isEmpty { drive.missed.append(MissedTasks(step: drive.steps, ids: missed)) }
        guard !state.withLock({ $0.hasCollided }) else { return }
        endStretch()
        run.board.withLock { board in
            // Nobody can tell whether blocks are left. After a drain that did nothing it takes another step.
            if case .drain = candidate.work, !board.isEventful {
                return
            }
            drains = 0
            board.offerDrains()
        }
        guard !isOver else { return }
        for condition in permanent where !condition.holds() {
            run.board.withLock { $0.fail(.brokenInvariant, "“\(condition.name)” does not hold") }
        }
    }

    /// Notes who runs from now on.
    func willRun(on thread: StepThread) {
        state.withLock { $0.running = thread }
    }

    func resume(_ held: HeldStep) {
        run.board.withLock { board in
            board.isStepping = true
            board.stretch = held.stretch
        }
        willRun(on: held.thread)
        held.thread.hand(.goOn)
    }

    // MARK: Inside a step

    /// Lets the chooser hold the running step here.
    @inline(never)
    func point() {
        guard !isOver, !state.withLock({ $0.hasCollided }) else { return }
        let isWorthIt = run.board.withLock { board in
            board.settle()
            // Where nothing has happened yet, the others could have gone before the stretch began.
            return !board.stretch.footprint.isEmpty || !board.fresh.isEmpty
                || board.canBeCancelled(board.stretch.footprint.lineage)
        }
        guard isWorthIt else { return }
        // Asked for here alone: two calls of one function would come from two places.
        let place = places.areWatched ? LockedPlaces.here() : nil
        let isLocked = place.map(places.contains) ?? false
        if !isLocked { endStretch() }
        let goesOn = run.board.withLock { board in
            let arrival = board.nextArrival()
            if isLocked { board.stretch.passLockedPoint() } else { board.stretch.isRest = true }
            let rank = board.stretch.job == nil ? -arrival : board.stretch.participant
            return Candidate.Key(rank: rank, arrival: arrival)
        }
        guard case .take(let candidate) = choose(at: goesOn, isLocked: isLocked) else { return }
        guard hold(goesOn, for: candidate) else { return }
        places.add(place)
    }

    private func endStretch() {
        pulse.beats.add(1, ordering: .relaxed)
        let (footprint, isAlone, known) = run.board.withLock { board in
            let (footprint, isPrivate) = board.endStretch()
            drive.hasSubjectCancelled = board.hasSubjectCancelled
            drive.asksInsideActors = board.asksInsideActors
            drive.isCutByLock = board.isCutByLock
            return (footprint, isPrivate || !watchesCancellation && board.isNobodyHeld, board.known)
        }
        chooser.stepEnded(footprint, known: known)
        drive.events.append(
            Event(arrival: running.arrival, start: running.start, frame: frame, footprint: footprint)
        )
        if let frame {
            drive.frames[frame].footprint = footprint
            if footprint.isEmpty, isAlone, !run.board.withLock({ $0.canBeCancelled(footprint.lineage) }) {
                drive.frames[frame].isLocal = true
            }
        }
        frame = nil
    }

    // MARK: The choice

    /// Decides what runs next; `goesOn` stands for the step that is at a point, if one is.
    ///
    /// Where it has a lock, it is only to say so, and the stretch does not end there.
    private func choose(at goesOn: Candidate.Key?, isLocked: Bool) -> Choice {
        guard !isOver else { return goesOn == nil ? .over : .goOn }
        let own = goesOn.map { [$0] } ?? []
        // All of it at one moment: a thread outside of control may add and take away candidates meanwhile.
        guard let look = run.board.withLock({ Look(at: $0, own: own, isLocked: isLocked) }) else { return over(goesOn) }
        if let escape = run.escapes.first {
            run.board.withLock { $0.fail(.escape, escape) }
            return over(goesOn)
        }
        let keys = look.keys
        if keys.isEmpty {
            if drains < SuspendedQueue.longestChain, run.board.withLock({ $0.offerDrains() }) {
                drains += 1
                return .goOn
            }
            return run.waitsForNothing() ? .goOn : over(nil)
        }
        if let goesOn, keys.count == 1 {
            running = (goesOn.arrival, look.start)
            return .goOn
        }
        if goesOn == nil { drive.steps += 1 }
        guard drive.steps <= run.explorer.maximumSteps else {
            run.board.withLock { $0.fail(.livelock, "still going on after \(run.explorer.maximumSteps) steps") }
            return over(goesOn)
        }
        drive.isTruncated = drive.isTruncated || look.isTruncated
        drive.mix(keys.count)
        var choice: Int
        switch chooser.choose(among: keys, fingerprint: drive.fingerprint) {
        case .take(let position):
            choice = position
        case .diverge:
            let message = "the choices do not fit at step \(drive.steps)"
            run.board.withLock { $0.fail(.divergedReplay, message) }
            return over(goesOn)
        case .prune:
            drive.isPruned = true
            return over(goesOn)
        }
        if isLocked, choice != 0 {
            guard chooser.isFree else {
                drive.isPruned = true
                return over(goesOn)
            }
            choice = 0
        }
        if keys.count > 1 {
            if !isLocked { frame = drive.frames.count }
            drive.frames.append(
                Frame(
                    digit: UInt8(choice),
                    arrivals: keys.map { $0.arrival },
                    asleep: chooser.asleep,
                    known: look.known,
                    fingerprint: drive.fingerprint,
                    hasTimers: look.hasTimers,
                    isLocked: isLocked
                )
            )
            run.surroundings.crumbs.add(UInt8(choice))
        }
        if !isLocked { running = (keys[choice].arrival, look.start) }
        if choice < own.count {
            return .goOn
        }
        if goesOn != nil { drive.steps += 1 }
        let candidate = run.board.withLock { board -> Candidate? in
            guard board.hasCandidate(keys[choice], at: choice - own.count) else { return nil }
            return board.take(choice - own.count, of: keys.count, isAhead: !own.isEmpty, number: drive.steps)
        }
        guard let candidate else {
            // A thread outside of control has taken it away meanwhile: this run says nothing, and the search is not complete.
            drive.isTruncated = true
            drive.isPruned = true
            return over(goesOn)
        }
        drive.mix(candidate.participant)
        return .take(candidate)
    }

    /// What there is to choose from, at one moment.
    private struct Look {
        let keys: [Candidate.Key]
        /// Whether there is more than a digit of a schedule can say.
        let isTruncated: Bool
        let known: Footprint.Known
        let start: Int
        let hasTimers: Bool

        /// `nil` after a failure.
        init?(at board: Board, own: [Candidate.Key], isLocked: Bool) {
            guard board.failure == nil else { return nil }
            let fresh = isLocked ? board.fresh.map { $0.key } : []
            let count = own.count + board.candidateCount + fresh.count
            let width = min(count, Schedule.radix)
            keys = Array((own + board.keys(width - own.count) + fresh).prefix(width))
            isTruncated = count > width
            known = board.known
            start = board.arrivals
            hasTimers = board.hasTimersToFire
        }
    }

    private func over(_ goesOn: Candidate.Key?) -> Choice {
        isOver = true
        return goesOn == nil ? .over : .goOn
    }
}
