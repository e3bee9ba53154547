/// A task of a run, kept to see whether it has ended.
///
/// The runtime says nothing of that, but it holds every task until the task has ended. A task that is still held beside
/// this reference, when the run is over and its subject is gone, waits for something.
@available(Executors, *)
struct TaskReference: Sendable {
    private let task: UInt
    let participant: Int
    let id: UInt64

    /// Holds the task that a job runs; `nil` if it runs none, or a child, whose parent ends later.
    init?(of job: ControlledJob, participant: Int) {
        guard job.kind == .task, !job.isChild, let functions = unsafe Self.functions else { return nil }
        let task = unsafe unsafeBitCast(job.job, to: UnsafeRawPointer.self)
        _ = unsafe functions.retain(task)
        self.task = UInt(bitPattern: task)
        self.participant = participant
        id = job.taskID
    }

    /// Whether no other code holds the task.
    var hasEnded: Bool {
        guard let functions = unsafe Self.functions, let task = unsafe UnsafeRawPointer(bitPattern: task) else {
            return true
        }
        return unsafe functions.retainCount(task) == 1
    }

    /// Whether only the explorer holds the task, at the end of the step that has run it.
    var isForgotten: Bool {
        guard let functions = unsafe Self.functions, let task = unsafe UnsafeRawPointer(bitPattern: task) else {
            return false
        }
        return unsafe functions.retainCount(task) <= 2
    }

    /// Lets go of the task; to be called once, at the end.
    func release() {
        guard let functions = unsafe Self.functions, let task = unsafe UnsafeRawPointer(bitPattern: task) else {
            return
        }
        unsafe functions.release(task)
    }

    /// Holds the task at an address until ``release(_:)``.
    static func retain(_ task: UInt) {
        guard let functions = unsafe functions, let task = unsafe UnsafeRawPointer(bitPattern: task) else { return }
        _ = unsafe functions.retain(task)
    }

    /// Lets go of the task at an address.
    static func release(_ task: UInt) {
        guard let functions = unsafe functions, let task = unsafe UnsafeRawPointer(bitPattern: task) else { return }
        unsafe functions.release(task)
    }

    private typealias Retain = @convention(c) (UnsafeRawPointer) -> UnsafeRawPointer
    private typealias Release = @convention(c) (UnsafeRawPointer) -> Void
    private typealias RetainCount = @convention(c) (UnsafeRawPointer) -> Int

    /// Those of the runtime for its own objects, which a task is, but no class.
    @unsafe
    private struct Functions: Sendable {
        let retain: Retain
        let release: Release
        let retainCount: RetainCount
    }

    private static let functions: Functions? = {
        guard let retain = unsafe RuntimeSymbol.address(of: "swift_retain"),
            let release = unsafe RuntimeSymbol.address(of: "swift_release"),
            let retainCount = unsafe RuntimeSymbol.address(of: "swift_retainCount")
        else { return nil }
        return unsafe Functions(
            retain: unsafeBitCast(retain, to: Retain.self),
            release: unsafeBitCast(release, to: Release.self),
            retainCount: unsafeBitCast(retainCount, to: RetainCount.self)
        )
    }()
}
