/// Captures the jobs of plain `Task {}` and `Task.detached`, which know nothing of an executor.
///
/// The concurrency runtime calls `swift_task_enqueueGlobal_hook`, if it is set, instead of handing a job to
/// the process-wide pool. The hook is set once and stays, since to take it back would be a race with every
/// other thread; for all jobs but those of runs it only passes on to what the runtime would have done.
enum GlobalHook {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    /// Whether plain tasks are captured: not where the runtime has no such hook or somebody else has it.
    static let isInstalled: Bool = {
        guard let symbol = unsafe RuntimeSymbol.address(of: "swift_task_enqueueGlobal_hook") else {
            return false
        }
        guard unsafe symbol.load(as: UInt.self) == 0 else { return false }
        let hook: Hook = { job, original in
            guard let run = ScenarioRun.claiming(job) else { return original(job) }
            run.accept(job, from: .hook)
        }
        unsafe symbol.assumingMemoryBound(to: Hook.self).pointee = hook
        return true
    }()
}
