import ConsoleSupport
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
        guard let breaks = version.breaks else {
            return report.holds && (report.isComplete || !report.omissions.isEmpty)
        }
        guard let failure = report.failure else { return false }
        return failure.message.contains("“\(breaks)”") || failure.kind.description == breaks
    }

    /// What is known of the version, and the explorer's report.
    var text: String {
        let listings = version.listings.map { "listing: \($0.name), in “\($0.article.rawValue)”" }
        let facts = [
            version.unseenFault.map { "fault that the explorer cannot see: \($0)" },
            version.repair.map { "repair: \($0)" },
        ]
        let mark = report.holds && version.unseenFault == nil ? "✓" : "✗"
        return
            (["\(mark) \(version.name): \(version.summary)"] + listings + ["code: \(version.code)"]
            + facts.compactMap(\.self) + ["\(report)"])
            .joined(separator: "\n")
    }
}

@available(Executors, *)
extension Exhibit {
    /// The exhibit's name, what happens in it, what must hold, and where the code is.
    var heading: String {
        let title = "\(name): \(title)"
        let text = [story, "Must hold: \(invariants.joined(separator: "; ")).", "Code: \(Code.folder)"]
        return ([title, String(repeating: "═", count: title.count)] + text.flatMap { $0.wrapped(to: 90) })
            .joined(separator: "\n")
    }
}

@available(Executors, *)
extension Version {
    /// Runs the version under every schedule, or under the first ones.
    func explore(atMost limit: Int = 100_000, stoppingAtFirstFailure stops: Bool = false) async -> Finding {
        var explorer = Explorer(.exhaustive)
        explorer.maximumSchedules = limit
        // All that a version does is under control: nothing comes from outside, for which a search has to wait.
        explorer.patience = .milliseconds(1)
        if breaks != nil {
            // How many fail says how rarely a test by luck would see it; for that it need not be all of them.
            explorer.stopsAtFirstFailure = stops
            explorer.maximumSchedules = min(2_000, limit)
        }
        return Finding(version: self, report: await explorer.explore(scenario))
    }
}
