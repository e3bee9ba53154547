/// A serial queue on which each block is a step: nothing runs until the schedule says so.
///
/// For subjects that can be given something other than a `DispatchQueue`. As a `SerialExecutor` it also
/// carries an actor that wants an executor of its own.
@available(Executors, *)
public final class ControlledQueue: SerialExecutor {
    /// The name in the trace.
    public let name: String

    private struct Block: Sendable {
        let label: String
        let body: @Sendable () -> Void
    }

    private struct State: Sendable {
        var blocks: [Block] = []
        var isRunning = false
    }

    private let run: ScheduledRun
    private let participant: Int
    private let state = Protected(State())

    init(name: String, run: ScheduledRun) {
        self.name = name
        self.run = run
        participant = run.state.withLock { $0.participants.add(name) }
    }

    /// Adds a block at the end of the queue.
    public func async(_ label: String = "runs a block", execute block: @escaping @Sendable () -> Void) {
        append(Block(label: label, body: block))
    }

    /// Adds a job of an actor that lives on this queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        // The queue is there as long as its actor.
        unsafe enqueue(UnownedJob(job), for: asUnownedSerialExecutor())
    }

    /// Adds a job of what the queue stands for.
    func enqueue(_ job: UnownedJob, for executor: UnownedSerialExecutor) {
        let name = run.introduce(job)
        append(Block(label: "runs \(name)") { [run] in unsafe run.perform(job, for: executor) })
    }

    /// Whether the caller runs in a block of this queue.
    public var isCurrent: Bool {
        // A block that is held runs as well, and then another step asks.
        run.isControlling && state.withLock { $0.isRunning }
            && run.state.withLock { $0.segment.participant == participant }
    }

    /// Stops the process unless the caller runs in a block of this queue.
    public func checkIsolated() {
        precondition(isCurrent, "Expected to run on the controlled queue \(name)")
    }

    /// Runs the block at the head, and makes the next one a candidate.
    func runHead() {
        let block = state.withLock { state -> Block? in
            guard !state.blocks.isEmpty else { return nil }
            state.isRunning = true
            return state.blocks.removeFirst()
        }
        block?.body()
        let next = state.withLock { state in
            state.isRunning = false
            return state.blocks.first
        }
        if let next {
            run.add(.block(self), next.label, of: participant)
        }
    }

    private func append(_ block: Block) {
        // The order in which blocks come to a queue is noticeable, even if none of them runs yet.
        run.state.withLock { $0.touchMarks() }
        let isHead = state.withLock { state in
            state.blocks.append(block)
            return state.blocks.count == 1 && !state.isRunning
        }
        if isHead {
            run.add(.block(self), block.label, of: participant)
        }
        if run.isControlling { run.preemptionPoint() }
    }
}
