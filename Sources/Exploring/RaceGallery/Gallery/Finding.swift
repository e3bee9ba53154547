import InterleavingExplorer

/// What the explorer has found out about a version.
@available(Executors, *)
struct Finding: Sendable {
    let version: Version
    let report: ExplorationReport

    /// Whether that is what was expected.
    ///
    /// A version that holds must hold under all schedules that the explorer can try. One that breaks must break the
    /// invariant it is known for.
    var isExpected: Bool {
        guard let breaks = version.breaks else { return report.holds && wasSearched }
        guard let failure = report.failure else { return false }
        return failure.message.contains("“\(breaks)”") || failure.kind.description == breaks
    }

    /// Whether every schedule was tried that the explorer can try.
    private var wasSearched: Bool { report.isComplete || !report.omissions.isEmpty }

    /// The verdict in words.
    var verdict: String {
        let schedules = "\(report.schedules) schedule\(report.schedules == 1 ? "" : "s")"
        guard let failure = report.failure else {
            let verdict =
                if !wasSearched {
                    "holds under \(schedules), but there are more"
                } else if !report.omissions.isEmpty {
                    "holds under \(schedules), with no choice of when its “Task { }” begins"
                } else {
                    report.schedules == 1 ? "holds under the only schedule" : "holds under all \(schedules)"
                }
            return version.unseenFault.map { "\(verdict), and yet has \($0)" } ?? verdict
        }
        let searched = wasSearched ? schedules : "the first \(schedules)"
        return "breaks under \(report.failures) of \(searched), the first is \(failure.schedule)"
    }
}

@available(Executors, *)
extension Version {
    /// Runs the version under every schedule, or under the first ones.
    func explore(
        atMost limit: Int = 100_000,
        onProgress: @escaping @Sendable (ExplorationProgress) -> Void = { _ in }
    ) async -> Finding {
        var explorer = Explorer(.exhaustive)
        explorer.onProgress = onProgress
        explorer.maximumSchedules = limit
        if breaks != nil {
            // How many fail says how rarely a test by luck would see it; for that it need not be all of them.
            explorer.stopsAtFirstFailure = false
            explorer.maximumSchedules = min(2_000, limit)
        }
        return Finding(version: self, report: await explorer.explore(scenario))
    }
}
