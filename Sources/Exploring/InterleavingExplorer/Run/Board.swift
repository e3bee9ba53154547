/// What a run knows: who can run, who takes part, what has been noticed.
struct Board: Sendable {
    struct Participant: Sendable {
        let name: String?
        /// The participant that started this one, and this one's index among the tasks that it started.
        let parent: Int
        let ordinal: Int
        /// What the scenario or the clock did when it was started.
        var cause: String?
        var started = 0
        var hasRun = false
        /// Whether it is an operation, whose task nobody but the scenario has.
        var isOperation = false
        var isChild = false
        /// Where its task is, and the task's id; zero if it has none.
        var task: UInt = 0
        /// Where its task is that has ended, if the run still holds it.
        var endedTask: UInt = 0
        var taskID: UInt64 = 0
        /// What its task was last seen to do.
        var status = TaskStatus.isReady
        var isCancelled = false
    }

    struct Timer: Sendable {
        let number: Int
        let deadline: Duration
        let label: String
        let fire: @Sendable () -> Void

        var key: Candidate.Key {
            Candidate.Key(rank: -number, arrival: number)
        }
    }

    enum Phase: Sendable {
        case preparing, exploring, checking, over
    }

    static let scenario = 0
    static let clock = 1

    var phase = Phase.preparing
    var ready: [Candidate] = []
    /// What became ready during the step that runs now.
    var fresh: [Candidate] = []
    var isStepping = false
    /// What runs now.
    var stretch = Stretch()
    /// Whether the last step is known to have done anything at all.
    var isEventful = false
    var participants = [
        Participant(name: "scenario", parent: 0, ordinal: 0),
        Participant(name: "clock", parent: 0, ordinal: 0),
    ]
    var tasks: [UInt64: Int] = [:]
    /// Whether the subject itself has cancelled a task, which then may look at that anywhere.
    var hasSubjectCancelled = false
    /// Whether code in an actor has asked for an actor in the same stretch.
    var asksInsideActors = false
    /// Whether a lock of the subject has kept others from going on before something that they can notice.
    var isCutByLock = false
    /// The tasks that must have ended when the run is over.
    var references: [TaskReference] = []
    var permitsUnfinishedTasks = false
    /// The actors that the trace has named, in order of first appearance.
    var actors: [(address: UInt, type: String, name: String)] = []
    /// Whom the next new task belongs to.
    var naming: Int?
    /// The actors that were entered or asked for, in order of first appearance.
    var knownActors: [KnownActor] = []
    var unfinished: [String] = []
    var now = Duration.zero
    var timers: [Timer] = []
    var effects: [String] = []
    var failure: (kind: ScenarioFailure.Kind, message: String)?
    /// Whether the run was not followed to its end.
    var isAbandoned = false
    var suspendedQueues: [SuspendedQueue] = []
    var isDraining = false
    /// The trace so far, if one is wanted.
    var steps: [TraceStep]?
    /// Whether what happens now belongs into the trace.
    var isRecording = false
    /// How many have become ready so far.
    private(set) var arrivals = 0

    /// An actor's ordinal belongs to its address only as long as the actor is there.
    struct KnownActor: Sendable {
        let address: UInt
        nonisolated(unsafe) weak var actor: AnyObject?
    }

    /// The next index among all that becomes ready.
    mutating func nextArrival() -> Int {
        arrivals += 1
        return arrivals
    }

    /// Notes that something is touched that others can see without entering an actor.
    mutating func touchEffects() {
        stretch.footprint.write(.effects)
    }

    /// Adds a candidate at the end of the line.
    mutating func add(
        _ work: Candidate.Work,
        of participant: Int,
        as label: Candidate.Label,
        rank: Int? = nil
    ) {
        arrivals += 1
        let candidate = Candidate(
            work: work,
            participant: participant,
            label: label,
            key: Candidate.Key(rank: rank ?? -arrivals, arrival: arrivals)
        )
        if isStepping {
            fresh.append(candidate)
        } else {
            ready.append(candidate)
        }
    }

    /// Adds a participant that has a name of its own.
    mutating func addParticipant(_ name: String, isOperation: Bool = false) -> Int {
        participants.append(Participant(name: name, parent: 0, ordinal: 0))
        participants[participants.count - 1].isOperation = isOperation
        return participants.count - 1
    }

    /// Whose task this is.
    ///
    /// A task that is not known yet was started by `parent`; zero is no task, and belongs to it as well.
    mutating func participant(ofTask id: UInt64, startedBy parent: Int) -> Int {
        if id == 0 {
            return parent
        }
        if let known = tasks[id] {
            return known
        }
        if let naming {
            tasks[id] = naming
            return naming
        }
        participants[parent].started += 1
        var participant = Participant(name: nil, parent: parent, ordinal: participants[parent].started)
        participant.cause = parent <= Board.clock ? stretch.cause : nil
        participants.append(participant)
        tasks[id] = participants.count - 1
        return participants.count - 1
    }

    /// The name of a participant: its own, or that of the one that started it and a number, such as `first/1`.
    ///
    /// What the scenario has started is told apart by the step: `scenario: user taps/1`.
    func name(of participant: Int) -> String {
        let entry = participants[participant]
        let cause = entry.cause.map { ": \($0)" } ?? ""
        return entry.name ?? "\(name(of: entry.parent))\(cause)/\(entry.ordinal)"
    }

    /// The name of the actor that a candidate enters: its type, with a number from the second one of that type on.
    mutating func nameOfActor(enteredBy candidate: Candidate) -> String {
        guard let job = candidate.job, let address = ActorIdentity.address(servedBy: job) else {
            return ActorIdentity.unknown
        }
        let type = ActorIdentity.typeName(at: address)
        if let known = actors.first(where: { $0.address == address && $0.type == type }) {
            return known.name
        }
        let ordinal = 1 + actors.count { $0.type == type }
        let name = ordinal == 1 ? type : "\(type) \(ordinal)"
        actors.append((address, type, name))
        return name
    }

    /// Adds a timer, in order of deadlines and then of arrival, and returns its number.
    mutating func addTimer(
        at deadline: Duration,
        _ label: String,
        _ fire: @escaping @Sendable () -> Void
    ) -> Int {
        arrivals += 1
        let timer = Timer(
            number: arrivals,
            deadline: deadline,
            label: label,
            fire: fire
        )
        timers.insert(timer, at: timers.firstIndex { $0.deadline > deadline } ?? timers.count)
        touchEffects()
        return arrivals
    }

    /// Takes a timer away, if it is still there.
    @discardableResult
    mutating func removeTimer(_ number: Int) -> Timer? {
        guard let index = timers.firstIndex(where: { $0.number == number }) else { return nil }
        touchEffects()
        return timers.remove(at: index)
    }

    /// The timers that are due next, which is more than one if they are due together.
    var dueTimers: ArraySlice<Timer> {
        guard let first = timers.first else { return [] }
        return timers.prefix { $0.deadline <= max(first.deadline, now) }
    }

    /// The participant whose task the calling thread runs, if there is one.
    var current: Int? {
        let task = TaskStatus.currentTask
        return task == 0 ? nil : participants.lastIndex { $0.task == task }
    }

    /// Who acts at this moment: in an actor, which may serve several, the one that the current task tells.
    func actor(telling participant: Int?) -> Int {
        // A task that was started in a step of another exploration tells a participant of that one.
        guard stretch.isInsideActor, let participant, participants.indices.contains(participant) else {
            return stretch.participant
        }
        return participant
    }

    /// Keeps the first thing that went wrong.
    mutating func fail(_ kind: ScenarioFailure.Kind, _ message: @autoclosure () -> String) {
        if failure == nil {
            failure = (kind, message())
        }
    }

    /// Adds to the step that is being recorded, if there is one.
    mutating func record(_ kind: TraceEvent.Kind, by participant: Int, _ text: @autoclosure () -> String = "") {
        guard isRecording, let last = steps?.indices.last else { return }
        let event = TraceEvent(kind: kind, participant: name(of: participant), text: text())
        steps?[last].events.append(event)
    }
}
