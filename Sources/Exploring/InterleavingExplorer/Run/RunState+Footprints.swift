/// How the footprint of the segment that runs comes about.
@available(Executors, *)
extension RunState {
    var known: Footprint.Known {
        mutating get { Footprint.Known(actors: knownActors.count, participants: participants.indices.count) }
    }

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
        candidates.isInStep = true
        segment = Segment(of: part, after: segment)
        segment.actorOrdinal = segment.actor.map { ordinal(ofActorAt: $0) }
        touchActor()
        guard isRecording else { return }
        segment.served = served(by: part)
        guard !isFirst, part.entersActor else { return }
        let names = segment.served.map { participants.name(of: $0) }
        if let entry = recording?.entry(by: part, for: names) {
            record(.enters, by: segment.served.first ?? part.participant, entry)
        }
    }

    // MARK: What is touched

    /// Notes that something is touched that others can see without entering an actor: what is marked, a queue, or the
    /// time.
    mutating func touchMarks(isTime: Bool = false) {
        segment.footprint.touchesMarks = true
        noteTouch(isTime ? nil : .marks, by: acting)
    }

    /// Notes for the operation of a participant that it has touched an object, which is `nil` for one that counts for
    /// no sharing.
    private mutating func noteTouch(_ object: Sharing.Object?, by participant: Int) {
        participants.noteTouch(by: participant)
        guard let object, let operation = participants.operation(of: participant) else { return }
        sharing.note(object, by: operation)
    }

    /// Notes that code has run in the actor of the present step.
    private mutating func touchActor() {
        if let actor = segment.actorOrdinal { segment.footprint.writes.actors.insert(actor) }
    }

    private mutating func request(actorAt address: UInt) {
        segment.requests.actors.insert(ordinal(ofActorAt: address))
    }

    /// Notes a job that has become ready to run, and who is told by that.
    mutating func note(_ job: ControlledJob, of participant: Int, preference: TaskStatus.Preference?) {
        switch job.kind {
        case .task where job.isNew:
            participants[participant].begin(job)
            preference?.attach(toTaskAt: job.address)
        case .task:
            noteResumption(of: participant)
        case .actor:
            if let address = job.actor {
                request(actorAt: address)
            } else {
                segment.footprint.isOpaque = true
            }
        case .hop: segment.isPausing = true
        case .other: segment.footprint.isOpaque = true
        }
    }

    private mutating func noteResumption(of participant: Int) {
        let before = participants[participant].status
        if before == .waitsForContinuation { noteWaking(of: participant) }
        participants[participant].hasTouched = false
        // A step that only wakes it is the run's own, and no other step could have done that.
        if before.isWait, !segment.isWake {
            segment.footprint.writes.tasks.insert(participant)
            if before == .waitsForContinuation, segment.actor == nil {
                segment.footprint.wakesFromOutside = true
            }
        }
        if segment.actor != nil { noteStatus(of: participant) }
        participants[participant].status = .isReady
    }

    /// Notes where an operation finds the continuation of a task that has touched nothing before it waited: there is
    /// something in common that is not marked.
    private mutating func noteWaking(of participant: Int) {
        let waker = acting
        let isCancellation = segment.cancelled != nil
        // Behind the end the run itself wakes those that listen.
        guard phase == .exploring, !segment.isWake, segment.actor == nil, !segment.footprint.touchesMarks,
            !participants[participant].hasTouched,
            isCancellation || participants.operation(of: waker) != nil,
            // What has started the waker may have handed the continuation on.
            !participants.isBelow(waker, participant)
        else { return }
        let name = participants.name(of: participant)
        findings.unseenWaking =
            isCancellation
            ? "the cancellation of “\(name)” wakes it" : "“\(participants.name(of: waker))” wakes “\(name)”"
    }

    /// Notes that code has looked whether a task is cancelled, and returns whether that can make a difference.
    ///
    /// - Parameter thoughNobodyCancels: whether a task may be cancelled though no step of the scenario is to do that.
    mutating func noteLook(at task: UInt, seeing isCancelled: Bool, thoughNobodyCancels: Bool) -> Bool {
        guard phase == .exploring, candidates.isInStep, failure == nil,
            let index = participants.index(ofTaskAt: task, evenIfEnded: true)
        else { return false }
        // Who cancels a task cancels its children.
        let tasks = participants[index].lineage
        guard thoughNobodyCancels || candidates.mayCancel(tasks) else { return false }
        segment.footprint.reads.cancellations.merge(tasks)
        let whose = index == acting ? "" : " of \(participants.name(of: index))"
        record(.looks, by: acting, isCancelled ? "sees the cancellation\(whose)" : "sees no cancellation\(whose)")
        return true
    }

    // MARK: What has become of tasks

    /// Notes what has become of the tasks that ran since the last point.
    mutating func noteStatuses() {
        guard TaskStatus.isKnown else {
            segment.footprint.isOpaque = true
            return
        }
        if let job = segment.job, job.kind == .task {
            noteStatus(of: segment.participant)
        }
        if let actor = segment.actor {
            for index in participants.indices where participants[index].status == .waitsForActor(actor) {
                noteStatus(of: index)
            }
        }
        noteCancellations()
    }

    /// Notes what has become of a task that has run in a block.
    mutating func noteStatus(ofTask id: UInt64) {
        if TaskStatus.isKnown, let index = participants.index(ofTask: id) { noteStatus(of: index) }
    }

    private mutating func noteStatus(of index: Int) {
        guard participants[index].task != 0 else { return }
        let status = TaskStatus(ofTaskAt: participants[index].task)
        if segment.actor != nil {
            // Those that still wait for the actor have not run.
            guard status != participants[index].status else { return }
            touchActor()
            if let actor = segment.actorOrdinal { noteTouch(.actor(actor), by: index) }
        }
        segment.footprint.lineage.merge(participants[index].lineage)
        // Nothing tells whether the segment leaves the scope of a child that has ended, and would have cancelled it
        // before.
        if participants[index].hasEndedChild {
            segment.footprint.reads.children.insert(index)
        }
        segment.isPrivate = segment.isPrivate && participants[index].isOperation
        if status != .running || segment.actor == nil {
            participants[index].status = status
        }
        switch status {
        case .running, .isReady: break
        case .ended: noteEnd(of: index)
        case .waitsForTask(let address):
            if let other = participants.indices.first(where: { participants[$0].task == address }) {
                segment.footprint.reads.tasks.insert(other)
                noteTouch(.task(other), by: index)
                noteTouch(.task(other), by: other)
            } else {
                segment.footprint.isOpaque = true
            }
        case .waitsForContinuation:
            // The continuation may have been resumed already where the step was held.
            if segment.followsPoint, !segment.isPausing { segment.footprint.isLateSuspension = true }
            // Outside of an actor a suspension may as well come first: whatever follows can still come at once.
            if segment.actor != nil { segment.footprint.writes.tasks.insert(index) }
        case .waitsForGroup: segment.footprint.reads.children.insert(index)
        case .waitsForActor(let address):
            request(actorAt: address)
            noteTouch(.actor(ordinal(ofActorAt: address)), by: index)
        }
    }

    private mutating func noteEnd(of index: Int) {
        participants[index].task = 0
        if participants[index].isChild { participants[participants[index].parent].hasEndedChild = true }
        // A task that no other code has cannot be awaited.
        guard !participants[index].isOperation, participants[index].reference?.isForgotten != true else { return }
        segment.footprint.writes.tasks.insert(index)
        if participants[index].isChild {
            segment.footprint.writes.children.insert(participants[index].parent)
        } else {
            segment.footprint.endsSharedTask = true
        }
    }

    /// Finds out whose tasks the present segment has cancelled.
    private mutating func noteCancellations() {
        for index in participants.indices where !participants[index].isCancelled {
            // A task that has ended can be cancelled as well: another schedule may do so before the end.
            let task = participants[index].reference?.address ?? participants[index].task
            guard task != 0, TaskStatus.isCancelled(taskAt: task) else { continue }
            participants[index].isCancelled = true
            findings.hasCancelled = true
            let (isChild, parent) = (participants[index].isChild, participants[index].parent)
            // A child of a cancelled task begins cancelled, which is nobody's act.
            let isInherited = isChild && participants[parent].isCancelled
            if !isInherited, !participants.isStructured(index, below: segment.cancelled) {
                findings.hasSubjectCancelled = true
            }
            segment.footprint.writes.cancellations.insert(index)
            noteTouch(.task(index), by: acting)
            noteTouch(.task(index), by: index)
        }
    }

    // MARK: The end of a segment

    /// Ends a segment: what it has made ready can run from now on, and its footprint is complete.
    mutating func endSegment() -> (footprint: Footprint, isPrivate: Bool) {
        segment.footprint.writes.merge(segment.requests)
        if segment.actor != nil, !segment.requests.isEmpty { findings.asksInsideActors = true }
        segment.requests = Footprint.Objects()
        isEventful = isEventful || !segment.footprint.isUntouched || !candidates.madeReady.isEmpty
        candidates.endSegment()
        if let before = segment.footprintBeforeLock {
            if segment.isCutByLock || !segment.footprint.isEmpty { findings.isCutByLock = true }
            segment.footprint.merge(before)
            segment.footprintBeforeLock = nil
            segment.isCutByLock = false
        }
        segment.footprint.followsPoint = segment.followsPoint
        // What has come to a dispatch queue cannot be seen.
        if !candidates.queues.isEmpty { segment.footprint.isOpaque = true }
        if segment.footprint.isOpaque, segment.cancelled == nil {
            sharing.noteAnything(by: participants.operation(of: segment.participant))
        }
        defer {
            segment.footprint = Footprint()
            segment.isPrivate = true
        }
        return (segment.footprint, segment.isPrivate)
    }
}
