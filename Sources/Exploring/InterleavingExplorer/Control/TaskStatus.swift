/// What the concurrency runtime has written down about a task: whether the task has ended, and what it waits for.
///
/// The words are those of the runtime's `ActiveTaskStatus` and `TaskDependencyStatusRecord`. Where ``isKnown`` finds
/// others, the search goes without its reductions, and all actors are called the same.
@available(Executors, *)
enum TaskStatus: Sendable, Hashable {
    case running
    case ended
    /// Waits for the task at this address.
    case waitsForTask(UInt)
    case waitsForContinuation
    case waitsForGroup
    /// Has asked for the actor at this address.
    case waitsForActor(UInt)
    /// Ready to run, on no actor.
    case isReady

    /// Whether another task or thread has to wake the task.
    var isWait: Bool {
        switch self {
        case .waitsForTask, .waitsForContinuation, .waitsForGroup: true
        case .running, .ended, .waitsForActor, .isReady: false
        }
    }

    private static let statusWord = 12
    private static let recordWord = 13
    private static let isCancelledFlag: UInt = 0x100
    private static let isLockedFlag: UInt = 0x200
    private static let isEnqueuedFlag: UInt = 0x1000
    private static let hasEndedFlag: UInt = 0x2000
    private static let hasDependencyFlag: UInt = 0x4000
    private static let hasPreferenceFlag: UInt = 0x8000

    /// The status of the task at an address, which must be there.
    init(ofTaskAt task: UInt) {
        let status = Self.word(task, Self.statusWord)
        guard status & Self.hasEndedFlag == 0 else {
            self = .ended
            return
        }
        guard status & Self.hasDependencyFlag != 0, let record = Self.record(ofKind: 0, ofTaskAt: task) else {
            self = status & Self.isEnqueuedFlag == 0 ? .running : .isReady
            return
        }
        let object = Self.word(record, 2)
        switch Self.word(record, 4) & 0xff {
        case 1: self = .waitsForTask(object)
        case 2: self = .waitsForContinuation
        case 3: self = .waitsForGroup
        case 4: self = object == 0 ? .isReady : .waitsForActor(object)
        default: self = .isReady
        }
    }

    static func isCancelled(taskAt task: UInt) -> Bool {
        word(task, statusWord) & isCancelledFlag != 0
    }

    /// Whether the runtime holds its lock of the task at an address, as it does while it runs cancellation handlers.
    static func isLocked(taskAt task: UInt) -> Bool {
        word(task, statusWord) & isLockedFlag != 0
    }

    /// The task that the calling thread runs, or zero.
    static var currentTask: UInt {
        currentTaskFunction?() ?? 0
    }

    /// The first of a task's status records that is of a kind.
    private static func record(ofKind kind: UInt, ofTaskAt task: UInt) -> UInt? {
        var record = word(task, recordWord)
        for _ in 0..<16 where record > 0xffff {
            if word(record, 0) & 0xff == kind {
                return record
            }
            record = word(record, 1)
        }
        return nil
    }

    static func word(_ address: UInt, _ index: Int) -> UInt {
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return 0 }
        return unsafe pointer.load(fromByteOffset: index * MemoryLayout<UInt>.size, as: UInt.self)
    }

    static func setWord(_ address: UInt, _ index: Int, _ value: UInt) {
        guard let pointer = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return }
        unsafe pointer.storeBytes(of: value, toByteOffset: index * MemoryLayout<UInt>.size, as: UInt.self)
    }

    private typealias CurrentTaskFunction = @convention(thin) () -> UInt

    private static let currentTaskFunction: CurrentTaskFunction? = RuntimeSymbol.function("swift_task_getCurrent")
}

// MARK: An executor for tasks that prefer none

// ┌──────────────────────────────────────────────────────────────────────────────────────────────────┐
// │ What stands above only reads. This WRITES into the record of a live task, before its first step. │
// └──────────────────────────────────────────────────────────────────────────────────────────────────┘

@available(Executors, *)
extension TaskStatus {
    /// A status record by which a plain task prefers an executor; it lives as long as the process.
    struct Preference: Sendable {
        fileprivate let record: UInt

        /// Copies the record of a new task that was created with the preference; `nil` if there is none.
        init?(ofTaskAt task: UInt, for executor: AnyObject) {
            let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(executor).toOpaque())
            guard TaskStatus.word(task, TaskStatus.statusWord) & TaskStatus.hasPreferenceFlag != 0,
                let original = TaskStatus.record(ofKind: 5, ofTaskAt: task),
                TaskStatus.word(original, 3) == address
            else { return nil }
            let words = 6
            let copy = UnsafeMutablePointer<UInt>.allocate(capacity: words)
            for index in 0..<words {
                unsafe copy[index] = TaskStatus.word(original, index)
            }
            // It is the last of every list that it is put into.
            unsafe copy[1] = 0
            record = UInt(bitPattern: copy)
            // What a task prefers must not go before the task.
            _ = unsafe Unmanaged.passRetained(executor)
        }

        /// Gives a task that has not begun to run the preference, unless the task has one: its way from actor to actor
        /// is under control.
        func attach(toTaskAt task: UInt) {
            let status = TaskStatus.word(task, TaskStatus.statusWord)
            guard status & TaskStatus.hasPreferenceFlag == 0 else { return }
            // The word behind the last record, or the task's own if there is none.
            var (owner, index) = (task, TaskStatus.recordWord)
            while TaskStatus.word(owner, index) != 0 { (owner, index) = (TaskStatus.word(owner, index), 1) }
            TaskStatus.setWord(owner, index, record)
            TaskStatus.setWord(task, TaskStatus.statusWord, status | TaskStatus.hasPreferenceFlag)
        }
    }
}

// MARK: Whether the present runtime is as described

@available(Executors, *)
extension TaskStatus {
    /// Whether the words were found to mean what this file says; tried once, before the first exploration.
    static let isKnown: Bool = {
        guard currentTaskFunction != nil else { return false }
        let executor = ProbeExecutor()
        let door = Protected<(@Sendable () -> Void)?>(nil)
        let actor = Visited()
        let waiting = Task(executorPreference: executor) {
            await unsafe withUnsafeContinuation { continuation in
                door.withLock { $0 = { unsafe continuation.resume() } }
            }
        }
        guard let first = executor.runFirst() else { return false }
        let awaiting = Task(executorPreference: executor) { await waiting.value }
        guard let second = executor.runFirst() else { return false }
        let visitor = Task(executorPreference: executor) { await actor.visit() }
        guard let third = executor.runFirst(), let visit = executor.first else { return false }
        let late = Task(executorPreference: executor) { await actor.visit() }
        guard let fourth = executor.runLast() else { return false }
        let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(actor).toOpaque())
        var isAsDescribed =
            JobLayout.kind(of: visit) == .actor && JobLayout.wordBehind(visit) == address
            && TaskStatus(ofTaskAt: first) == .waitsForContinuation
            && TaskStatus(ofTaskAt: second) == .waitsForTask(first)
            && TaskStatus(ofTaskAt: third) == .waitsForActor(address)
            && TaskStatus(ofTaskAt: fourth) == .waitsForActor(address)
            && !isCancelled(taskAt: second)
        awaiting.cancel()
        isAsDescribed = isAsDescribed && isCancelled(taskAt: second) && !isCancelled(taskAt: first)
        door.withLock { $0 }?()
        while executor.runFirst() != nil {}
        for task in [first, second, third, fourth] {
            isAsDescribed = isAsDescribed && TaskStatus(ofTaskAt: task) == .ended
        }
        withExtendedLifetime((waiting, awaiting, visitor, late)) {}
        return isAsDescribed
    }()
}

@available(Executors, *)
private actor Visited {
    private var visits = 0

    func visit() {
        visits += 1
    }
}

/// Runs jobs on the calling thread when it is told to, and says where they were.
@available(Executors, *)
final class ProbeExecutor: TaskExecutor {
    private let jobs = Protected<[UnownedJob]>([])

    var first: UnownedJob? { jobs.withLock { $0.first } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    @discardableResult
    func runFirst() -> UInt? {
        run(jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() })
    }

    func runLast() -> UInt? {
        run(jobs.withLock { $0.popLast() })
    }

    private func run(_ job: UnownedJob?) -> UInt? {
        guard let job else { return nil }
        let address = JobLayout.address(of: job)
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        return address
    }
}
