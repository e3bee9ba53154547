public import Dispatch

/// A dispatch queue of the subject that is suspended but for the steps that drain it.
///
/// What has come to it cannot be seen, so a drain is a choice after every step. Blocks that a drain adds wait for the
/// next one: a decision that is split over two blocks can be interrupted.
@available(Executors, *)
final class SuspendedQueue: Sendable {
    /// Marks the queues of a run: their jobs are recognized while they are drained.
    static let key = DispatchSpecificKey<ObjectIdentifier>()

    /// How often a drain may follow a drain when nothing else can run: the longest chain of blocks.
    static let longestChain = 8

    let participant: Int
    private let queue: DispatchQueue

    /// Takes over a queue that is not suspended yet.
    init(_ queue: DispatchQueue, participant: Int, run: ScheduledRun) {
        self.queue = queue
        self.participant = participant
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(run))
        queue.suspend()
    }

    /// Runs the blocks that are there now, and returns when they have ended.
    func drain() {
        let done = DispatchSemaphore(value: 0)
        // The barrier is put in line before the queue may run, so it is the same blocks every time.
        queue.async(flags: .barrier) { [queue] in
            queue.suspend()
            done.signal()
        }
        queue.resume()
        done.wait()
    }

    /// Gives the queue back, since a suspended one must not be released.
    func giveBack() {
        queue.setSpecific(key: Self.key, value: nil)
        queue.resume()
    }
}

@available(Executors, *)
extension ScheduledRun {
    /// A new serial queue whose every block is a step.
    public func queue(_ name: String) -> ControlledQueue {
        ControlledQueue(name: name, run: self)
    }

    /// Takes a serial dispatch queue of the subject under control.
    ///
    /// The queue is suspended, and draining it is a step. The subject needs no change; but after every step a
    /// drain is tried, needed or not, so a ``ControlledQueue`` is cheaper. It is also more thorough: a block that
    /// does no more than add another one looks like no block at all, and the next drain then waits for another step, so
    /// that not even an exhaustive search tries everything in between. A caller of `queue.sync` waits for ever, and so
    /// does a block that waits for a task: the step is stuck. To be called in the setup, after which the run gives the
    /// queue back by itself.
    ///
    /// A block that comes by `asyncAfter` or from a timer source is not waited for: the schedule ends before it, and
    /// often no report says so. Use ``clock`` for such a delay.
    public func control(_ queue: DispatchQueue, _ name: String = "queue") {
        state.withLock { state in
            let participant = state.participants.add(name)
            state.candidates.add(SuspendedQueue(queue, participant: participant, run: self))
        }
    }
}
