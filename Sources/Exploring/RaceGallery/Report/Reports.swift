import ConsoleSupport
import InterleavingExplorer

/// The text that is printed for one exhibit.
@available(Executors, *)
struct ExhibitReport: Sendable {
    static let width = 90

    let exhibit: Exhibit
    let findings: [Finding]
    /// Whether every version that breaks is drawn, or only the first.
    let drawsAll: Bool
    let isMermaid: Bool

    var text: String {
        let broken = findings.filter { $0.report.failure != nil }
        let drawn = drawsAll ? broken : Array(broken.prefix(1))
        var parts = [heading, paragraph(exhibit.story), invariants, versions, code] + drawn.compactMap(drawing)
        if drawn.count < broken.count {
            let others = broken.dropFirst().map(\.version.name).joined(separator: ", ")
            parts.append(paragraph("Also drawn by swift run race-gallery \(exhibit.name): \(others)."))
        }
        return parts.joined(separator: "\n\n")
    }

    private var heading: String {
        let title = "\(exhibit.name): \(exhibit.title)"
        return isMermaid ? "## \(title)" : "\(title)\n\(String(repeating: "═", count: title.count))"
    }

    private var invariants: String {
        paragraph("Must hold: \(exhibit.invariants.joined(separator: "; ")).")
    }

    private var versions: String {
        let width = findings.map(\.version.name.count).max() ?? 0
        return findings.map { finding in
            let version = finding.version
            let mark = finding.report.holds && version.unseenFault == nil ? "✓" : "✗"
            let surprise = finding.isExpected ? "" : " – NOT AS EXPECTED"
            let listing = version.listing.map { "listing: \($0.name), in “\($0.article.rawValue)”" }
            let repair = version.repair.map { "repair: \($0)" }
            guard !isMermaid else {
                return [
                    "- \(mark) `\(version.name)`: \(version.summary)", listing, "**\(finding.verdict)**\(surprise)",
                    repair,
                ]
                .compactMap(\.self).joined(separator: "\n  ")
            }
            let indent = String(repeating: " ", count: width + 6)
            let lines =
                (listing?.wrapped(to: Self.width - indent.count) ?? [])
                + ["\(finding.verdict)\(surprise)"] + [repair].compactMap(\.self)
            return "  \(mark) \(version.name.padded(to: width))  \(version.summary)\n"
                + lines.map { indent + $0 }.joined(separator: "\n")
        }
        .joined(separator: "\n")
    }

    private var code: String {
        isMermaid ? "Code: [\(exhibit.file)](\(exhibit.file))" : "Code: \(exhibit.file)"
    }

    private func drawing(_ finding: Finding) -> String? {
        guard let failure = finding.report.failure else { return nil }
        let name = finding.version.name
        let title = paragraph("\(name), schedule \(failure.schedule): \(failure.summary).")
        let command = "swift run race-gallery \(exhibit.name) \(name) --replay \(failure.schedule)"
        return Self.drawing(title, failure.trace, isMermaid: isMermaid) + "\n\n"
            + (isMermaid ? "Again: `\(command)`" : "Again: \(command)")
    }

    static func drawing(_ title: String, _ trace: Trace, isMermaid: Bool) -> String {
        let diagram = SequenceDiagram(trace)
        return "\(title)\n\n" + (isMermaid ? "```mermaid\n\(diagram.mermaid)\n```" : diagram.text())
    }

    /// The diagram alone, for a document.
    static func mermaid(_ trace: Trace) -> String {
        SequenceDiagram(trace).mermaid
    }

    private func paragraph(_ text: String) -> String {
        text.wrapped(to: Self.width).joined(separator: "\n")
    }
}

@available(Executors, *)
extension ScenarioFailure {
    /// The message without the explorer's warning about what it does not control: it controls all of an exhibit.
    var summary: String {
        kind == .lostWaiter ? String(message.prefix { $0 != "(" }).wrapped(to: .max).joined() : message
    }
}

/// The text that is printed for one schedule.
@available(Executors, *)
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

/// The last lines of a run.
@available(Executors, *)
struct Summary: Sendable {
    var findings: [(exhibit: Exhibit, findings: [Finding])]

    var isGood: Bool {
        surprises.isEmpty
    }

    var text: String {
        let all = findings.flatMap(\.findings)
        let schedules = all.map(\.report.schedules).reduce(0, +)
        let broken = all.count { !$0.report.holds }
        let counts =
            "\(findings.count) exhibit\(findings.count == 1 ? "" : "s"), \(all.count) version"
            + "\(all.count == 1 ? "" : "s"), \(schedules) schedules: \(broken) broken, \(all.count - broken) hold."
        guard !isGood else { return "\(counts) Every verdict is as expected." }
        return "\(counts) NOT AS EXPECTED: \(surprises.joined(separator: ", "))."
    }

    private var surprises: [String] {
        findings.flatMap { exhibit, findings in
            findings.filter { !$0.isExpected }.map { "\(exhibit.name) \($0.version.name)" }
        }
    }
}
