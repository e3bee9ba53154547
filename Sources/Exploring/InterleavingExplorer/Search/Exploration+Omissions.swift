import Dispatch

/// What a search has left out, whether or not it was cut.
@available(Executors, *)
extension Exploration {
    /// How often a confirmation may wait for other threads to pause.
    private static let longestNoise = 20

    /// Says so if orders were left out that the explorer cannot bring about.
    mutating func lookForOmissions() {
        if omissions.contains(.hiddenStarts) || startsTasksOutOfSight() {
            omissions.insert(.hiddenStarts)
            letOthersBeInLine()
        }
        let all = [Omission.heldLocks, .hiddenStarts, .realSleeps, .looksAtCancellation].filter(omissions.contains)
        report.omissions = all.filter { !permits.contains($0) }
        report.permittedOmissions = all.filter(permits.contains)
        report.isComplete = report.isComplete && report.omissions.isEmpty
    }

    /// Whether the subject starts a task out of sight, as far as the census can tell.
    ///
    /// It is in the same step of each repetition. Other threads start such tasks as well: before each repetition, they
    /// must have started none for twice as long.
    private func startsTasksOutOfSight() -> Bool {
        guard let census = surroundings.census else { return false }
        var noise = 0
        return missed.contains { step, ids, digits in
            guard ids.contains(where: census.misses) else { return false }
            var duration = Duration.milliseconds(1)
            return (0..<10).allSatisfy { _ in
                while !isQuiet(for: duration * 2, by: census) {
                    noise += 1
                    guard noise <= Self.longestNoise else { return false }
                }
                let start = ContinuousClock.now
                let (execution, _, _) = runOnce(under: digits)
                duration = max(duration, ContinuousClock.now - start)
                return execution.missed.contains {
                    $0.step == step && $0.ids.contains(where: census.misses)
                }
            }
        }
    }

    /// Whether no other thread starts a task out of sight for so long.
    private func isQuiet(for duration: Duration, by census: TaskCensus) -> Bool {
        _ = census.missedTasks()
        let seconds = duration / .seconds(1)
        surroundings.progress.waiting { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + seconds) }
        let missed = census.missedTasks()
        return !missed.contains(where: census.misses)
    }
}
