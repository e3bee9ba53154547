import InterleavingExplorer

/// What is printed of one schedule.
struct ReplayReport: Sendable {
    let exhibit: Exhibit
    let version: Version
    let schedule: Schedule
    let replay: Replay
    let isMermaid: Bool

    /// Whether the schedule fits, and does nothing that the version is said not to do.
    var isExpected: Bool {
        guard let failure = replay.failure else { return true }
        return failure.kind != .divergedReplay && version.breaks != nil
    }

    var text: String {
        let title = "\(exhibit.name) \(version.name), schedule \(schedule): \(replay.failure?.summary ?? "all holds")."
        // A schedule that does not fit at all has led nowhere.
        guard !replay.trace.steps.isEmpty else { return "\(title)\n\(advice)" }
        let steps = isMermaid ? "```text\n\(replay.trace)\n```" : "Step by step:\n\n\(replay.trace)"
        let drawing = ExhibitReport.drawing(title, replay.trace, isMermaid: isMermaid) + "\n\n\(steps)"
        return replay.failure?.kind == .divergedReplay ? "\(drawing)\n\n\(advice)" : drawing
    }

    private var advice: String {
        """
        A schedule belongs to one version and one build configuration. Those of this one that fail:
        swift run race-gallery \(exhibit.name) \(version.name)
        """
    }
}
