import AccessTokenAdapters
import InterleavingExplorer
import Testing

/// What matters of a bug is that the callers see the contract broken.
@Suite("A trial of a service with a bug, under every interleaving", .serialized, .timeLimit(.minutes(2)))
struct TrialBugTests {
    /// How the schedules of a scenario fell.
    private struct Tally: Sendable, CustomStringConvertible {
        var reported = 0
        var missed = 0
        var kept = 0
        /// Nothing was wrong until the scenario had ended; the next callers saw it.
        var reportedLater = 0

        var description: String {
            "broken and reported: \(reported), broken and not: \(missed), kept: \(kept), seen later: \(reportedLater)"
        }
    }

    /// An error that stays, and a sign-out that is undone, are seen in the answer itself.
    @Test(
        arguments: [
            (AppService.Bug.keepsItsError, "an error, and asking again"),
            (.undoesSignOut, "sign-out, and asking again"),
        ]
    )
    func `reports it whenever it matters`(_ bug: AppService.Bug, _ name: String) async {
        let (tally, report) = await explore(bug, name, .exhaustive)
        #expect(report.isComplete && tally.reported > 0 && tally.missed == 0, "\(tally)")
    }

    /// A load too many is seen when somebody calls after it was wanted, and finds the two with different tokens.
    @Test(
        arguments: [
            (AppService.Bug.everyWaiterClearsTheFlight, "an error, and two who ask again"),
            (.blindInvalidation, "a late rejection"),
        ]
    )
    func `reports a load too many under some schedules`(_ bug: AppService.Bug, _ name: String) async {
        let (tally, _) = await explore(bug, name, .bounded(departures: 3))
        #expect(tally.reported > 0, "\(tally)")
    }

    private func explore(
        _ bug: AppService.Bug,
        _ name: String,
        _ mode: SearchMode
    ) async -> (Tally, ExplorationReport) {
        let tally = Locked(Tally())
        let trial = ExploredTrial(serving: .app(bug), shadow: .app())
        var explorer = Explorer(mode)
        explorer.maximumSchedules = 6_000
        let report = await explorer.explore(
            trial.scenario(.named(name)) { outcome in
                let isReported = !outcome.differences.isEmpty
                tally.withLock { tally in
                    switch (outcome.history.brokenRule != nil, isReported) {
                    case (true, true): tally.reported += 1
                    case (true, false): tally.missed += 1
                    case (false, true): tally.reportedLater += 1
                    case (false, false): tally.kept += 1
                    }
                }
            }
        )
        let result = tally.withLock { $0 }
        print("trial: \(bug) | \(name) | \(report.tally) | \(result)")
        #expect(report.holds, "\(report)")
        return (result, report)
    }
}
