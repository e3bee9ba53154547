import Dispatch

/// What a search has left out, whether or not it was cut.
@available(Executors, *)
extension Exploration {
    /// How long a search for orders before hidden starts may take, however short the first one was.
    private static let fewestRunsInLine = 5000

    /// Says so if orders were left out that the explorer cannot bring about.
    mutating func lookForOmissions() {
        if isCutByLock {
            report.omission = """
                a step could not be held where its code has a lock that others need, and went on to what they can notice; \
                mark the code that has the lock: run.effect("name") { … }; where locks nest, mark lock() and unlock() each
                """
        } else if startsTasksOutOfSight() {
            if report.isComplete { letOthersBeInLine() }
            report.omission = """
                a task was started where the explorer cannot choose when it begins: a “Task { }” that begins on an actor, \
                or one that begins at once (“Task.immediate”, “addImmediateTask”); start it with “Task.detached”, or with \
                the run's executor
                """
        }
        report.isComplete = report.isComplete && report.omission == nil
    }

    /// Tries the orders in which others are in line before a task that an actor starts for itself.
    ///
    /// That takes two steps to enter an actor, and many more schedules: this search may take as long as the first one.
    private mutating func letOthersBeInLine() {
        let runs = report.runs
        guard report.holds, !time.isOver, !knowledge.steps.entersActorsLater else { return }
        knowledge.steps.entersActorsLater = true
        deepenAnew(atMost: min(explorer.maximumSchedules, max(Self.fewestRunsInLine, runs)))
    }

    /// Whether the subject starts a task out of sight.
    ///
    /// It is in the same step of each repetition. Other threads start such tasks as well: before each repetition, they
    /// must have started none for twice as long.
    func startsTasksOutOfSight() -> Bool {
        var noise = 0
        return missed.contains { step, ids, digits in
            guard ids.contains(where: surroundings.census.misses) else { return false }
            var duration = Duration.milliseconds(1)
            return (0..<10).allSatisfy { _ in
                while !isQuiet(for: duration * 2) {
                    noise += 1
                    guard noise <= 1000 else { return false }
                }
                let start = ContinuousClock.now
                let (execution, _, _) = runOnce(under: digits)
                duration = max(duration, ContinuousClock.now - start)
                return execution.missed.contains {
                    $0.step == step && $0.ids.contains(where: surroundings.census.misses)
                }
            }
        }
    }

    /// Whether no other thread starts a task out of sight for so long.
    private func isQuiet(for duration: Duration) -> Bool {
        _ = surroundings.census.missedTasks()
        let seconds = duration / .seconds(1)
        surroundings.progress.waiting { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + seconds) }
        let missed = surroundings.census.missedTasks()
        return !missed.contains(where: surroundings.census.misses)
    }
}
