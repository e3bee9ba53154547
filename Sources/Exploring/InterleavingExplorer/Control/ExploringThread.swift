import Dispatch
import Synchronization

/// The threads on which schedules run: never those of the cooperative pool, and one for each exploration.
@available(Executors, *)
enum ExploringThread {
    private struct State: Sendable {
        var waiting: [@Sendable () -> Void] = []
        var threads = 0
    }

    private static let state = Protected(State())

    /// Runs an exploration beside others, as soon as a processor is left for it, then calls back.
    ///
    /// Those that wait are taken up in the order in which they were asked for. If a step does not end, the caller is told
    /// something else, and the thread is left to itself.
    static func perform<Result: Sendable>(
        _ body: @escaping @Sendable () -> Result,
        watching watchdog: Watchdog,
        orElse stuck: @escaping @Sendable () -> Result,
        then done: @escaping @Sendable (Result) -> Void
    ) {
        precondition(ActiveRuns.onThisThread == nil, "An exploration cannot be started from inside a scenario.")
        let needsThread = state.withLock { state in
            state.waiting.append {
                let isFirst = Protected(true)
                let end = { @Sendable (result: @Sendable () -> Result) in
                    let wasFirst = isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst
                    }
                    if wasFirst { done(result()) }
                    return wasFirst
                }
                watchdog.watch {
                    // The place of the stuck thread is for others.
                    if end(stuck) { startThread() }
                }
                let result = body()
                watchdog.end()
                if !end({ result }) { Self.state.withLock { $0.threads += 1 } }
            }
            guard state.threads < SystemThread.processors else { return false }
            state.threads += 1
            return true
        }
        if needsThread { startThread() }
    }

    private static func startThread() {
        // A serial queue has a thread even if the subjects keep all those of the global queues busy.
        DispatchQueue(label: "InterleavingExplorer").async {
            while let next = takeNext() {
                next()
            }
        }
    }

    /// The exploration that has waited longest; if there is none, the thread has ended.
    private static func takeNext() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.threads -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}

/// Looks now and then whether an exploration goes on.
@available(Executors, *)
struct Watchdog: Sendable {
    let progress: Progress
    let limit: Duration
    private let isOver = DispatchSemaphore(value: 0)

    init(progress: Progress, limit: Duration) {
        self.progress = progress
        self.limit = limit
    }

    /// Calls back once if nothing goes on for as long as the limit.
    func watch(_ bark: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "InterleavingExplorer watchdog").async {
            var last = -1
            var since = ContinuousClock.now
            while isOver.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
                let segments = progress.segments.load(ordering: .relaxed)
                if segments != last || progress.isWaiting.load(ordering: .sequentiallyConsistent) {
                    last = segments
                    since = .now
                } else if ContinuousClock.now - since > limit {
                    progress.isAbandoned.store(true, ordering: .sequentiallyConsistent)
                    return bark()
                }
            }
        }
    }

    func end() {
        isOver.signal()
    }
}
