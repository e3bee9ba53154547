import Dispatch
import Synchronization

/// The threads on which schedules run: never those of the cooperative pool, and one for each exploration.
@available(Executors, *)
enum ExploringThread {
    private struct State: Sendable {
        var waiting: [@Sendable () -> Void] = []
        /// How many explorations may begin now.
        var places = SystemThread.processors
    }

    private static let state = Protected(State())

    /// Runs an exploration as soon as a processor is left for it, then calls back.
    ///
    /// If a step does not end, the caller is told that it is stuck, and the thread is left to itself.
    static func perform<Result: Sendable>(
        _ body: @escaping @Sendable () -> Result,
        watching watchdog: Watchdog,
        orElse stuck: @escaping @Sendable () -> Result,
        then done: @escaping @Sendable (Result) -> Void
    ) {
        precondition(ActiveRuns.onThisThread == nil, "An exploration cannot be started from inside a scenario.")
        let exploration = { @Sendable in
            let end = { @Sendable (result: Result) in
                startNext()
                done(result)
            }
            watchdog.watch { end(stuck()) }
            let result = body()
            if watchdog.end() { end(result) }
        }
        let hasPlace = state.withLock { state in
            guard state.places > 0 else {
                state.waiting.append(exploration)
                return false
            }
            state.places -= 1
            return true
        }
        if hasPlace { start(exploration) }
    }

    private static func start(_ exploration: @escaping @Sendable () -> Void) {
        // A serial queue has a thread even if the subjects keep all those of the global queues busy.
        DispatchQueue(label: "InterleavingExplorer").async { CrashHandler.watching(exploration) }
    }

    /// Gives a place to the exploration that has waited longest.
    private static func startNext() {
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            if state.waiting.isEmpty { state.places += 1 }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        if let next { start(next) }
    }
}

/// Looks now and then whether an exploration goes on.
@available(Executors, *)
struct Watchdog: Sendable {
    let progress: Progress
    let limit: Duration
    private let isOver = DispatchSemaphore(value: 0)

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
                    if mayTell() { bark() }
                    return
                }
            }
        }
    }

    /// Ends the watch, and returns whether nothing was told so far.
    func end() -> Bool {
        isOver.signal()
        return mayTell()
    }

    private func mayTell() -> Bool {
        !progress.isTold.exchange(true, ordering: .sequentiallyConsistent)
    }
}
