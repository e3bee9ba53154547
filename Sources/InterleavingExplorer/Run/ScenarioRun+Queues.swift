public import Dispatch

extension ScenarioRun {
    /// A new serial queue whose every block is a step.
    public func queue(_ name: String) -> ControlledQueue {
        ControlledQueue(name: name, run: self)
    }

    /// Takes a serial dispatch queue of the subject under control.
    ///
    /// The queue is suspended, and draining it is a step. The subject needs no change; but after every step a
    /// drain is tried, needed or not, so a ``ControlledQueue`` is cheaper. It is also more thorough: a block that
    /// does no more than add another one looks like no block at all, and the next drain then waits for another step, so
    /// that not even an exhaustive search tries everything in between. Whoever calls `queue.sync` waits
    /// for ever. To be called in the setup, after which the run gives the queue back by itself.
    public func control(_ queue: DispatchQueue, _ name: String = "queue") {
        board.withLock { board in
            let participant = board.addParticipant(name)
            board.suspendedQueues.append(SuspendedQueue(queue, participant: participant, run: self))
        }
    }

    /// The name of the participant whose job this is.
    func name(of job: UnownedJob) -> String {
        let id = JobLayout.taskID(of: job)
        let starter = Self.participant
        return board.withLock { board in
            board.name(of: board.participant(ofTask: id, startedBy: board.actor(telling: starter)))
        }
    }
}
