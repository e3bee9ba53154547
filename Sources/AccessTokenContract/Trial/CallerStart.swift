import AccessTokenAdapters
import Dispatch

/// How a caller that is a task is started: in the order of the calls, as a handler's callers come by themselves.
struct CallerStart: Sendable {
    let executor: DispatchQueueExecutor
    let cancelledAlready: Bool
    /// The caller asks from inside the task that runs at present, as a loader does.
    let inPresentTask: Bool

    func asTask(_ body: @escaping @Sendable () async -> Void) -> @Sendable () -> Void {
        let task = Task(executorPreference: inPresentTask ? nil : executor) { [cancelledAlready] in
            if cancelledAlready { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            await body()
        }
        return { task.cancel() }
    }
}
