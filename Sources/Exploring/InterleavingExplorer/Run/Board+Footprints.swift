extension Board {
    /// How many objects are known by their ordinals now.
    var known: Footprint.Known {
        Footprint.Known(actors: knownActors.count, participants: participants.count)
    }

    /// The ordinal of an actor, by which footprints know it.
    mutating func ordinal(ofActorAt address: UInt) -> Int {
        // A loop over indices, since a copy of a weak reference is dear.
        var index = knownActors.count - 1
        while index >= 0, knownActors[index].address != address { index -= 1 }
        if index >= 0, unsafe knownActors[index].actor != nil {
            return index
        }
        let actor = unsafe UnsafeRawPointer(bitPattern: address).map {
            unsafe Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
        }
        knownActors.append(KnownActor(address: address, actor: actor))
        return knownActors.count - 1
    }

    /// Begins a step, or a part of it that follows at once.
    mutating func begin(_ part: Candidate, isFirst: Bool) {
        isStepping = true
        stretch = Stretch(of: part, after: stretch)
        stretch.actorOrdinal = stretch.actor.map { ordinal(ofActorAt: $0) }
        touchInside()
        guard !isFirst, part.entersActor, isRecording else { return }
        let actor = nameOfActor(enteredBy: part)
        record(.enters, by: part.participant, actor)
    }

    /// Notes what has become of the tasks that ran since the last point.
    mutating func settle() {
        guard TaskStatus.isKnown else {
            stretch.footprint.isOpaque = true
            return
        }
        if let job = stretch.job, job.kind == .task {
            settle(stretch.participant)
        }
        if let actor = stretch.actor {
            for participant in participants.indices where participants[participant].status == .waitsForActor(actor) {
                settle(participant)
            }
        }
        noteCancellations()
    }

    private mutating func settle(_ index: Int) {
        guard participants[index].task != 0 else { return }
        let before = participants[index].status
        let status = TaskStatus(ofTaskAt: participants[index].task)
        if stretch.actor != nil {
            // Those that still wait for the actor have not run.
            guard status != before else { return }
            touchInside()
        }
        addLineage(of: index)
        // Nothing tells whether the stretch leaves the scope of a child that has ended, and would have cancelled it before.
        if participants.contains(where: { $0.isChild && $0.parent == index && $0.status == .ended }) {
            stretch.footprint.read(.init(kind: .children, ordinal: index))
        }
        stretch.isPrivate = stretch.isPrivate && participants[index].isOperation
        if status != .running || stretch.actor == nil {
            participants[index].status = status
        }
        switch status {
        case .running, .isReady:
            break
        case .ended:
            let task = participants[index].taskID
            let reference = references.first { $0.id == task }
            if reference != nil { participants[index].endedTask = participants[index].task }
            participants[index].task = 0
            // Where nobody else has the task, nobody can await it.
            guard !participants[index].isOperation, reference?.isForgotten != true else { break }
            stretch.footprint.write(.init(kind: .task, ordinal: index))
            if participants[index].isChild {
                stretch.footprint.write(.init(kind: .children, ordinal: participants[index].parent))
            } else {
                stretch.footprint.endsSharedTask = true
            }
        case .waitsForTask(let address):
            if let other = participants.firstIndex(where: { $0.task == address }) {
                stretch.footprint.read(.init(kind: .task, ordinal: other))
            } else {
                stretch.footprint.isOpaque = true
            }
        case .waitsForContinuation:
            // The continuation may have been resumed already where the step was held.
            if stretch.isRest, !stretch.isPausing { stretch.footprint.isLateSuspension = true }
            // Outside of an actor a suspension may as well come first: whatever follows can still come at once.
            if stretch.actor != nil { stretch.footprint.write(.init(kind: .task, ordinal: index)) }
        case .waitsForGroup:
            stretch.footprint.read(.init(kind: .children, ordinal: index))
        case .waitsForActor(let address):
            let actor = ordinal(ofActorAt: address)
            if !stretch.requests.contains(actor) { stretch.requests.append(actor) }
        }
    }

    /// Notes a job that has become ready to run, and who is told by that.
    mutating func note(_ job: ControlledJob, of participant: Int, preference: TaskStatus.Preference?) {
        switch job.kind {
        case .task:
            let before = participants[participant].status
            if job.isNew {
                participants[participant].task = job.address
                participants[participant].taskID = job.taskID
                participants[participant].isChild = job.isChild
                if job.origin == .hook { preference?.attach(toTaskAt: job.address) }
            } else {
                switch before {
                case .waitsForTask, .waitsForContinuation, .waitsForGroup:
                    // The step that wakes it is the run's own, and nobody else could have done that.
                    if !stretch.isWake { stretch.footprint.write(.init(kind: .task, ordinal: participant)) }
                    if before == .waitsForContinuation, !stretch.isWake, stretch.actor == nil {
                        stretch.footprint.wakesFromOutside = true
                    }
                case .running, .ended, .waitsForActor, .isReady: break
                }
                if stretch.actor != nil { settle(participant) }
            }
            participants[participant].status = .isReady
        case .actor:
            if let address = ActorIdentity.address(servedBy: job) {
                let actor = ordinal(ofActorAt: address)
                if !stretch.requests.contains(actor) { stretch.requests.append(actor) }
            } else {
                stretch.footprint.isOpaque = true
            }
        case .hop: stretch.isPausing = true
        case .other: stretch.footprint.isOpaque = true
        }
    }

    /// Notes that code has run in the actor of the present step.
    mutating func touchInside() {
        if let actor = stretch.actorOrdinal { stretch.footprint.write(.init(kind: .actor, ordinal: actor)) }
    }

    private mutating func addLineage(of participant: Int) {
        var ancestor = participant
        while ancestor > Board.clock {
            stretch.footprint.addLineage(ancestor)
            ancestor = participants[ancestor].parent
        }
    }

    /// Finds out whose tasks the present stretch has cancelled.
    private mutating func noteCancellations() {
        for index in participants.indices where !participants[index].isCancelled {
            // A task that has ended can be cancelled as well: another schedule may do so before the end.
            let task = participants[index].task | participants[index].endedTask
            guard task != 0, TaskStatus.isCancelled(taskAt: task) else { continue }
            participants[index].isCancelled = true
            if !isStructured(index, below: stretch.cancelled) { hasSubjectCancelled = true }
            stretch.footprint.write(.init(kind: .cancellation, ordinal: index))
        }
    }

    /// Whether a participant is another one, or a child of its children.
    private func isStructured(_ participant: Int, below ancestor: Int?) -> Bool {
        var participant = participant
        while participant != ancestor {
            guard participants[participant].isChild else { return false }
            participant = participants[participant].parent
        }
        return true
    }

    /// Ends a stretch: what it has made ready can run from now on, and its footprint is complete.
    mutating func endStretch() -> (footprint: Footprint, isPrivate: Bool) {
        for actor in stretch.requests { stretch.footprint.write(.init(kind: .actor, ordinal: actor)) }
        asksInsideActors = asksInsideActors || stretch.actor != nil && !stretch.requests.isEmpty
        stretch.requests = []
        isEventful = isEventful || !stretch.footprint.isUntouched || !fresh.isEmpty
        ready.append(contentsOf: fresh)
        fresh.removeAll(keepingCapacity: true)
        if let before = stretch.beforeLock {
            isCutByLock = isCutByLock || !stretch.footprint.isEmpty
            stretch.footprint.merge(before)
            stretch.beforeLock = nil
        }
        stretch.footprint.isRest = stretch.isRest
        // What has come to a dispatch queue cannot be seen.
        if !suspendedQueues.isEmpty { stretch.footprint.isOpaque = true }
        defer {
            stretch.footprint = Footprint()
            stretch.isPrivate = true
        }
        return (stretch.footprint, stretch.isPrivate && isNobodyHeld)
    }

    /// Whether there is no held step, and no dispatch queue that blocks may have come to.
    var isNobodyHeld: Bool {
        suspendedQueues.isEmpty && !ready.contains { $0.isRest }
    }

    /// Whether a cancellation is waiting that would reach one of these tasks.
    func canBeCancelled(_ lineage: [Footprint.Object]) -> Bool {
        lineage.contains { canBeCancelled($0.ordinal) }
    }

    private func canBeCancelled(_ participant: Int) -> Bool {
        ready.contains { candidate in
            guard case .cancellation(let target, _) = candidate.work else { return false }
            var descendant = participant
            while descendant > target {
                descendant = participants[descendant].parent
            }
            return descendant == target
        }
    }

    /// Whether the runtime holds its lock of a task, so that whoever needs the lock would wait for a held step for ever.
    var isAnyTaskLocked: Bool {
        participants.contains { $0.task != 0 && TaskStatus.isLocked(taskAt: $0.task) }
    }
}
