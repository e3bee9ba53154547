/// A task of a run, kept to see whether it has ended.
///
/// The runtime holds every task until the task has ended: one that has not ended when the subject is gone waits for
/// something.
@available(Executors, *)
struct TaskReference: Sendable {
    let address: UInt

    /// Holds the task that a job runs; `nil` if it runs none, or a child, whose parent ends later.
    init?(of job: ControlledJob) {
        guard job.kind == .task, !job.isChild, unsafe Self.retainCount != nil else { return nil }
        address = job.address
        Self.retain(address)
    }

    /// Whether the task has ended, as the runtime says; where it does not, whether no other code holds the task.
    var hasEnded: Bool { holders == 1 || TaskStatus.isKnown && TaskStatus(ofTaskAt: address) == .ended }

    /// Whether only the explorer holds the task, at the end of the step that has run it.
    var isForgotten: Bool { holders <= 2 }

    private var holders: Int {
        guard let task = unsafe UnsafeRawPointer(bitPattern: address) else { return 0 }
        return unsafe Self.retainCount?(task) ?? 0
    }

    static func retain(_ task: UInt) {
        _ = unsafe object(at: task)?.retain()
    }

    static func release(_ task: UInt) {
        unsafe object(at: task)?.release()
    }

    /// Stands for the objects of the runtime that are counted as those of native classes are, such as tasks.
    private final class NativeObject {}

    private static func object(at address: UInt) -> Unmanaged<NativeObject>? {
        unsafe UnsafeRawPointer(bitPattern: address).map { unsafe Unmanaged.fromOpaque($0) }
    }

    private typealias RetainCount = @convention(c) (UnsafeRawPointer) -> Int

    private static let retainCount: RetainCount? = unsafe RuntimeSymbol.function("swift_retainCount")
}
