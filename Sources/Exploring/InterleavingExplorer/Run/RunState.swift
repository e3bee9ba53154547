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
        /// Whether any task was cancelled, by the subject or by the scenario.
        var hasCancelled = false
        /// Whether a timer was set when all operations had ended, and so will not fire.
        var setsTimerTooLate = false
        /// Whether a task was started that no executor has got.
        var startsTaskOutOfSight = false
        /// Who has slept by a clock of the system.
        var realSleepers: Set<Int> = []
        /// Who was woken by whom through something that the explorer has not seen.
        var unseenWaking: String?
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
    /// The operations that must end, and have not.
    var unfinished: [Int] = []
    /// The operations that need not end.
    var listeners: [Int] = []
    /// What runs now, or ran last.
    var segment = Segment()
    /// Whether the last segment is known to have done anything at all.
    var isEventful = false
    var isDraining = false
    var findings = Findings()
    /// The actors that were entered or asked for, in order of first appearance.
    var knownActors: [KnownActor] = []
    /// What the search may leave out.
    var permits: Set<Omission> = []
    /// Whether time passes only where nothing else can happen.
    var timeWaitsForOthers = false
    var variesPriorities = false
    var permitsUnfinishedTasks = false
    var permitsNothingShared = false
    /// What operations have in common.
    var sharing = Sharing()
    var effects: [String] = []
    /// What operations have returned, where that can be compared.
    var results: [String] = []
    /// What the run has come to, if the scenario says so.
    var outcome: String?
    var failure: Failure?
    /// Whether the run was not followed to its end.
    var isAbandoned = false
    var recording: Recording?

    /// Keeps the first thing that went wrong.
    mutating func fail(_ kind: ScenarioFailure.Kind, _ message: @autoclosure () -> String) {
        if failure == nil { failure = (kind, message()) }
    }

    // These questions change nothing, and say that they do: without the optimizer, any other copies the whole state.

    /// The participant whose task the calling thread runs, if there is one.
    var current: Int? {
        mutating get { participants.index(ofTaskAt: TaskStatus.currentTask) }
    }

    /// Who acts at this moment: in an actor, which may serve several, the one whose task runs.
    var acting: Int {
        mutating get {
            participants.currentOutOfSight
                ?? (segment.isInsideActor ? current ?? segment.participant : segment.participant)
        }
    }

    var isRecording: Bool {
        mutating get { recording?.isOn == true }
    }

    mutating func recordStep(_ number: Int, of candidate: Candidate, choice: Int, of width: Int) {
        guard isRecording else { return }
        let served = served(by: candidate)
        let owner = participants.name(of: candidate.heldStep?.acting ?? served.first ?? candidate.participant)
        let names = served.map { participants.name(of: $0) }
        guard
            let (action, actor) = recording?.beginning(of: candidate, by: owner, for: names, at: candidates.now)
        else { return }
        let step = TraceStep(
            number: number,
            participant: owner,
            action: action,
            actor: actor,
            choice: choice,
            width: width,
            time: candidates.now,
            events: []
        )
        recording?.add(step)
    }

    /// Those for whom the actor of a candidate runs: its job serves all whose tasks wait for the actor.
    mutating func served(by candidate: Candidate) -> [Int] {
        guard let actor = candidate.job?.actor else { return [] }
        return participants.indices.filter { index in
            let task = participants[index].task
            return task != 0 && TaskStatus(ofTaskAt: task) == .waitsForActor(actor)
        }
    }

    /// Who is named where another thread resumes a participant: the participant, or a task that went on out of sight,
    /// and for whose end the participant has waited.
    func culprit(behind participant: Int) -> Int {
        guard case .waitsForTask(let task) = participants[participant].status else { return participant }
        return participants.index(ofTaskOutOfSightAt: task) ?? participant
    }

    mutating func record(_ kind: TraceEvent.Kind, by participant: Int, _ text: @autoclosure () -> String = "") {
        guard isRecording else { return }
        let event = TraceEvent(kind: kind, participant: participants.name(of: participant), text: text())
        recording?.add(event)
    }
}
