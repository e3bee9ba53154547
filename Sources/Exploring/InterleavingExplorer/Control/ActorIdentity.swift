/// Tells which actor a job of an actor serves, which nothing public does.
///
/// The job of a default actor holds the actor right behind its own fields. Whether the present runtime does so is
/// tried on an actor that is known before anything is read anywhere else; if not, all actors are called the same.
@available(Executors, *)
enum ActorIdentity {
    /// What an actor is called whose type is not known.
    static let unknown = "an actor"

    /// Whether the present runtime has been found to do as described.
    static let isKnown: Bool = {
        let probe = Probe()
        let executor = ProbeExecutor()
        Task(executorPreference: executor) { await probe.visit() }
        let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(probe).toOpaque())
        return executor.runAll() == [address]
    }()

    /// The address of the actor that a job serves; `nil` if that cannot be told.
    static func address(servedBy job: ControlledJob) -> UInt? {
        job.kind == .actor && isKnown ? JobLayout.wordBehind(job.job) : nil
    }

    /// The name of the type of an actor that is still there.
    static func typeName(at address: UInt) -> String {
        guard let actor = unsafe UnsafeRawPointer(bitPattern: address) else { return unknown }
        return unsafe String(describing: type(of: Unmanaged<AnyObject>.fromOpaque(actor).takeUnretainedValue()))
    }
}

/// An actor whose address is known.
@available(Executors, *)
private actor Probe {
    private var visits = 0

    func visit() {
        visits += 1
    }
}

/// Runs jobs on the calling thread, and reads what those of actors hold.
@available(Executors, *)
private final class ProbeExecutor: TaskExecutor {
    private let jobs = Protected<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    func runAll() -> [UInt] {
        var words: [UInt] = []
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            if JobLayout.kind(of: job) == .actor {
                words.append(JobLayout.wordBehind(job))
            }
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
        return words
    }
}
