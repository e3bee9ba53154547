/// What a run knows: who can run, who takes part, and what has been noticed.
@available(Executors, *)
struct RunState: Sendable {
    enum Phase: Sendable {
        case preparing, exploring, checking, over
    }

    /// What has been noticed of the subject, which decides how the search must go.
    struct Findings: Sendable {
        /// Whether the subject itself has cancelled a task, which then may look at that anywhere.
        var hasSubjectCancelled = false
        /// Whether code in an actor has asked for an actor in the same segment.
        var asksInsideActors = false
        /// Whether a lock of the subject has kept others from going on before something that they can notice.
        var isCutByLock = false
    }

    typealias Failure = (kind: ScenarioFailure.Kind, message: String)

    /// An actor's ordinal belongs to its address only as long as the actor is there.
    struct KnownActor: Sendable {
        let address: UInt
        nonisolated(unsafe) weak var actor: AnyObject?
    }

    var phase = Phase.preparing
    var candidates = Candidates()
    var participants = Participants()
    /// The operations that have not ended.
    var unfinished: [String] = []
    /// The choices so far; of a step that does not end, the watchdog reads them here.
    var digits: [UInt8] = []
    /// What runs now, and whether it is a step that is running.
    var segment = Segment()
    var isStepping = false
    /// Whether the last segment is known to have done anything at all.
    var isEventful = false
    var isDraining = false
    var findings = Findings()
    /// The actors that were entered or asked for, in order of first appearance.
    var knownActors: [KnownActor] = []
    /// The tasks that must have ended when the run is over.
    var references: [TaskReference] = []
    var permitsUnfinishedTasks = false
    var effects: [String] = []
    var failure: Failure?
    /// Whether the run was not followed to its end.
    var isAbandoned = false
    /// The trace, if one is wanted.
    var recording: Recording?

    /// Keeps the first thing that went wrong.
    mutating func fail(_ kind: ScenarioFailure.Kind, _ message: @autoclosure () -> String) {
        if failure == nil { failure = (kind, message()) }
    }

    // MARK: Candidates

    mutating func add(_ work: Candidate.Work, of participant: Int, as label: String?, rank: Int? = nil) {
        candidates.add(work, of: participant, as: label, rank: rank, isInStep: isStepping)
    }

    /// Makes each suspended queue a candidate, and returns whether there is any.
    @discardableResult
    mutating func offerDrains() -> Bool {
        candidates.offerDrains(isInStep: isStepping)
    }

    /// How many things can happen now.
    var candidateCount: Int { candidates.count(withTimers: !unfinished.isEmpty) }

    /// Whether a timer is among what can happen now, or a dispatch queue that may have got blocks.
    var hasTimersToFire: Bool {
        !candidates.queues.isEmpty || !unfinished.isEmpty && candidates.hasTimers
    }

    /// Takes a candidate out, and begins its step in the trace; `nil` if it is no longer the one with this key.
    mutating func take(
        at position: Int,
        key: Candidate.Key? = nil,
        choice: Int = 0,
        of width: Int = 1,
        step: Int = 0
    ) -> Candidate? {
        guard let candidate = candidates.take(at: position, key: key) else { return nil }
        guard var recording, recording.isOn else { return candidate }
        // Given back below: a copy of the steps would be dear.
        self.recording = nil
        let name = name(of: candidate.participant)
        let hasRun = participants[candidate.participant].hasRun
        participants[candidate.participant].hasRun = true
        let action = recording.action(of: candidate, hasRun: hasRun)
        recording.begin(
            TraceStep(
                number: step,
                participant: name,
                action: action.text,
                actor: action.actor,
                choice: choice,
                width: width,
                time: candidates.now,
                events: []
            )
        )
        self.recording = recording
        return candidate
    }

    mutating func addTimer(at deadline: Duration, _ label: String, _ fire: @escaping @Sendable () -> Void) -> Int {
        touchEffects()
        return candidates.addTimer(at: deadline, label, fire)
    }

    /// Takes a timer away, if it is still there.
    mutating func removeTimer(_ number: Int) -> Candidates.Timer? {
        let timer = candidates.removeTimer(number)
        if timer != nil { touchEffects() }
        return timer
    }

    // MARK: Participants

    func name(of participant: Int) -> String {
        participants.name(of: participant)
    }

    /// The participant whose task the calling thread runs, if there is one.
    var current: Int? {
        participants.index(ofTaskAt: TaskStatus.currentTask)
    }

    /// Who acts at this moment: in an actor, which may serve several, the one that the current task tells.
    func actor(telling participant: Int?) -> Int {
        // A task that was started in a step of another exploration tells a participant of that one.
        guard segment.isInsideActor, let participant, participants.indices.contains(participant) else {
            return segment.participant
        }
        return participant
    }

    /// Adds to the step that is being recorded, if there is one.
    mutating func record(_ kind: TraceEvent.Kind, by participant: Int, _ text: @autoclosure () -> String = "") {
        guard recording?.isOn == true else { return }
        let event = TraceEvent(kind: kind, participant: name(of: participant), text: text())
        recording?.add(event)
    }
}

/// The trace of a run as it grows.
@available(Executors, *)
struct Recording: Sendable {
    private(set) var steps: [TraceStep] = []
    /// Whether what happens now belongs into the trace: not the preparation, and not the checks.
    var isOn = false
    /// The actors that have a name, in order of first appearance.
    private var actors: [(address: UInt, type: String, name: String)] = []

    mutating func begin(_ step: TraceStep) {
        steps.append(step)
    }

    /// What a candidate does in its step, and the actor that it enters.
    mutating func action(of candidate: Candidate, hasRun: Bool) -> (text: String, actor: String?) {
        let actor = candidate.entersActor ? nameOfActor(enteredBy: candidate) : nil
        if candidate.heldStep != nil { return ("goes on", actor) }
        return (candidate.label ?? actor.map { "\($0) runs" } ?? (hasRun ? "continues" : "starts"), actor)
    }

    mutating func add(_ event: TraceEvent) {
        if let last = steps.indices.last { steps[last].events.append(event) }
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
}
