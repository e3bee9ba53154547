/// What a step does without a job.
@available(Executors, *)
extension ScheduledRun {
    /// Lets code look whether a task is cancelled, which others may do right behind the look.
    ///
    /// - Parameter task: the task that is looked at, if it is not the one that runs.
    func looking(at task: UInt?, _ look: () -> Bool) -> Bool {
        let isCancelled = look()
        guard surroundings.seesCalls else { return isCancelled }
        let isNoticed = state.withLock { state in
            state.noteLook(
                at: task ?? TaskStatus.currentTask,
                seeing: isCancelled,
                thoughNobodyCancels: knowledge.steps.entersActorsLater
            )
        }
        if isNoticed { preemptionPoint() }
        return isCancelled
    }

    /// Hears that a task, or the children of a group, were cancelled.
    func hasCancelled() {
        // Only a search that knows of it can come to this point in each run.
        guard surroundings.seesCalls, knowledge.steps.entersActorsLater, state.withLock({ $0.segment.cancelled == nil })
        else { return }
        preemptionPoint()
    }

    /// Hears that the task that runs sleeps by a timer of the system.
    func sleepsInRealTime() {
        state.withLock { state in
            guard state.phase == .exploring, state.candidates.isInStep else { return }
            let sleeper = state.acting
            state.findings.realSleepers.insert(sleeper)
            state.record(.timer, by: sleeper, "sleeps in real time")
        }
    }

    /// Hears that a task was created, which has come by if an executor has got it.
    ///
    /// If not, the task begins where nobody sees it: its creator is known only here.
    func hasCreated(taskAt address: UInt) {
        guard surroundings.seesCalls else { return }
        state.withLock { state in
            guard state.phase == .exploring, state.candidates.isInStep,
                !state.participants.knowsTask(JobLayout.taskID(ofTaskAt: address))
            else { return }
            state.findings.startsTaskOutOfSight = true
            let creator = state.acting
            let task = state.participants.addOutOfSight(
                taskAt: address,
                startedBy: creator,
                for: state.segment.cause
            )
            let name = state.participants.name(of: task)
            state.record(.starts, by: creator, name)
        }
    }
}
