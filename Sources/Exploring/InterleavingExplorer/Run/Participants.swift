/// Who takes part in a run: the scenario, the clock, queues, operations, and the tasks that they start.
@available(Executors, *)
struct Participants: Sendable {
    struct Participant: Sendable {
        let name: String?
        /// The participant that started this one, and this one's index among the tasks that it started.
        var parent = Participants.scenario
        var ordinal = 0
        /// What the scenario or the clock did when it was started.
        var cause: String?
        var started = 0
        /// Whether it is an operation, whose task only the scenario has.
        var isOperation = false
        var isChild = false
        /// Where its task is, and the task's id; zero if it has none.
        var task: UInt = 0
        var taskID: UInt64 = 0
        /// Its task, if that must have ended when the run is over.
        var reference: TaskReference?
        /// What its task was last seen to do.
        var status = TaskStatus.isReady
        var isCancelled = false
        /// It and those that started it, up to the scenario's own.
        fileprivate(set) var lineage = Footprint.Ordinals()
        /// Whether a child of it has ended.
        var hasEndedChild = false
        /// Whether it, or a task that it has started, has touched an actor or a mark since it was last woken.
        var hasTouched = false

        /// Notes the task, by its first job.
        mutating func begin(_ job: ControlledJob) {
            (task, taskID, isChild, status) = (job.address, job.taskID, job.isChild, .isReady)
        }
    }

    static let scenario = 0
    static let clock = 1

    private var all = [Participant(name: "scenario"), Participant(name: "clock")]
    private var ofTasks: [UInt64: Int] = [:]
    /// The tasks that have been created, and that no executor has got yet.
    private var ofTasksOutOfSight: [UInt64: (participant: Int, address: UInt)] = [:]
    /// Whom the next new task belongs to.
    var nextOwner: Int?

    var operations: [Int] { all.indices.filter { all[$0].isOperation } }
    var indices: Range<Int> { all.indices }

    subscript(index: Int) -> Participant {
        // A copy would be dear.
        _read { yield all[index] }
        _modify { yield &all[index] }
    }

    mutating func add(_ name: String, isOperation: Bool = false) -> Int {
        return append(Participant(name: name, isOperation: isOperation))
    }

    func index(ofTask id: UInt64) -> Int? { ofTasks[id] }

    func knowsTask(_ id: UInt64) -> Bool {
        ofTasks[id] != nil
    }

    /// Whose task this is: a task that is not known yet was started by `parent`, and zero, which is no task, belongs to
    /// it too.
    mutating func owner(ofTask id: UInt64, startedBy parent: Int, for cause: String?) -> Int {
        if id == 0 { return parent }
        if let known = ofTasks[id] { return known }
        let owner =
            nextOwner ?? ofTasksOutOfSight.removeValue(forKey: id)?.participant
            ?? addTask(startedBy: parent, for: cause)
        ofTasks[id] = owner
        return owner
    }

    /// Notes who has created a task that no executor has got, and returns the new participant.
    ///
    /// The first executor that gets the task may get it from whoever wakes it.
    mutating func addOutOfSight(taskAt address: UInt, startedBy parent: Int, for cause: String?) -> Int {
        let new = addTask(startedBy: parent, for: cause)
        ofTasksOutOfSight[JobLayout.taskID(ofTaskAt: address)] = (new, address)
        return new
    }

    /// Whether a task has been created that no executor has got yet.
    func isOutOfSight(task id: UInt64) -> Bool {
        ofTasksOutOfSight[id] != nil
    }

    /// The participant of such a task that others wait for.
    func index(ofTaskOutOfSightAt address: UInt) -> Int? {
        ofTasksOutOfSight.values.first { $0.address == address }?.participant
    }

    /// The participant whose task the calling thread runs, if no executor has got that task yet.
    var currentOutOfSight: Int? {
        guard !ofTasksOutOfSight.isEmpty else { return nil }
        return ofTasksOutOfSight[JobLayout.taskID(ofTaskAt: TaskStatus.currentTask)]?.participant
    }

    private mutating func addTask(startedBy parent: Int, for cause: String?) -> Int {
        all[parent].started += 1
        let ownCause = parent <= Self.clock ? cause : nil
        return append(Participant(name: nil, parent: parent, ordinal: all[parent].started, cause: ownCause))
    }

    private mutating func append(_ participant: Participant) -> Int {
        let index = all.count
        all.append(participant)
        all[index].lineage = all[participant.parent].lineage
        all[index].lineage.insert(index)
        return index
    }

    /// The name of a participant: its own, or that of the one that started it and a number, such as `first/1`.
    ///
    /// What the scenario has started is told apart by the step: `scenario: user taps/1`.
    func name(of participant: Int) -> String {
        let entry = all[participant]
        let cause = entry.cause.map { ": \($0)" } ?? ""
        return entry.name ?? "\(name(of: entry.parent))\(cause)/\(entry.ordinal)"
    }

    /// Takes out the tasks that must have ended when the run is over.
    mutating func takeReferences() -> [(participant: Int, id: UInt64, reference: TaskReference)] {
        indices.compactMap { index in all[index].reference.take().map { (index, all[index].taskID, $0) } }
    }

    func index(ofTaskAt address: UInt, evenIfEnded: Bool = false) -> Int? {
        guard address != 0 else { return nil }
        return all.lastIndex { $0.task == address || evenIfEnded && $0.reference?.address == address }
    }

    // Loops: what follows is asked at each point, and a lazy sequence is dear without the optimizer.

    /// Notes that a participant, or a task that it has started, has touched something.
    mutating func noteTouch(by participant: Int) {
        var index = participant
        while index > Self.clock {
            all[index].hasTouched = true
            index = all[index].parent
        }
    }

    /// Whether a participant is another one, or was started by it.
    func isBelow(_ participant: Int, _ ancestor: Int) -> Bool {
        var index = participant
        while index > Self.clock, index != ancestor { index = all[index].parent }
        return index == ancestor
    }

    /// The operation that a participant is, or that has started it; `nil` for what belongs to the scenario.
    func operation(of participant: Int) -> Int? {
        var index = participant
        while index > Self.clock {
            if all[index].isOperation { return index }
            index = all[index].parent
        }
        return nil
    }

    /// Whether a participant is another one, or a child of its children.
    func isStructured(_ participant: Int, below ancestor: Int?) -> Bool {
        var participant = participant
        while participant != ancestor {
            guard all[participant].isChild else { return false }
            participant = all[participant].parent
        }
        return true
    }

    /// Whether the runtime holds its lock of a task: other threads would wait for a held step for ever.
    var isAnyTaskLocked: Bool {
        for index in all.indices where all[index].task != 0 && TaskStatus.isLocked(taskAt: all[index].task) {
            return true
        }
        return false
    }
}
