/// Captures the jobs of plain `Task {}` and `Task.detached`, which know nothing of an executor.
///
/// The concurrency runtime calls `swift_task_enqueueGlobal_hook` instead of handing a job to the process-wide pool. The
/// hook stays, since taking it back would be a race with every other thread; it passes on all jobs but those of runs.
@available(Executors, *)
enum GlobalHook {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    private static let capture: Hook = { job, original in
        guard ActiveRuns.areAny else { return original(job) }
        guard let run = ScheduledRun.claiming(job) else {
            TaskCensus.note(JobLayout.taskID(of: job))
            return original(job)
        }
        run.accept(job, isFollowed: false)
    }

    private typealias OriginalExecutor = @convention(thin) () -> UnownedSerialExecutor
    private typealias ExecutorHook = @convention(thin) (OriginalExecutor) -> UnownedSerialExecutor

    /// Is called where code asks for the main actor's executor, which in a step is one of the run, also on a queue that
    /// the step drains.
    private static let replaceMainActor: ExecutorHook = { original in
        guard ActiveRuns.areAny, let run = ScheduledRun.current else { return unsafe original() }
        return unsafe run.surroundings.mainActor.asUnownedSerialExecutor()
    }

    /// Whether another library has set the hook, before or since: plain tasks get away then.
    static var isTaken: Bool {
        guard let symbol = unsafe RuntimeSymbol.address(of: "swift_task_enqueueGlobal_hook") else { return false }
        return unsafe symbol.load(as: UInt.self) != 0 && !isInPlace()
    }

    /// Sets the hooks, the first time, and returns whether plain tasks are captured now.
    ///
    /// They are not where the runtime has no such hook, or where another library has set it before or since.
    static func isInPlace() -> Bool {
        installed.map { TaskStatus.word($0.address, 0) == $0.hook } ?? false
    }

    private static let installed: (address: UInt, hook: UInt)? = {
        if let symbol = unsafe freeHook("swift_task_getMainExecutor_hook") {
            unsafe symbol.assumingMemoryBound(to: ExecutorHook.self).pointee = replaceMainActor
        }
        guard let symbol = unsafe freeHook("swift_task_enqueueGlobal_hook") else { return nil }
        unsafe symbol.assumingMemoryBound(to: Hook.self).pointee = capture
        return unsafe (UInt(bitPattern: symbol), symbol.load(as: UInt.self))
    }()

    /// Where a hook of the runtime is, if no library has set it.
    private static func freeHook(_ name: String) -> UnsafeMutableRawPointer? {
        guard let symbol = unsafe RuntimeSymbol.address(of: name), unsafe symbol.load(as: UInt.self) == 0 else {
            return nil
        }
        return unsafe symbol
    }
}
