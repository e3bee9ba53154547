import ConsoleSupport
import InterleavingExplorer

/// The text that is printed for one exhibit.
@available(Executors, *)
struct ExhibitReport: Sendable {
    private static let width = 90

    let exhibit: Exhibit
    let findings: [Finding]

    var text: String {
        let parts = [
            "\(title)\n\(String(repeating: "═", count: title.count))", paragraph(exhibit.story),
            paragraph("Must hold: \(exhibit.invariants.joined(separator: "; "))."), versions, "Code: \(Code.folder)",
        ]
        return (parts + findings.compactMap(steps)).joined(separator: "\n\n")
    }

    private var title: String { "\(exhibit.name): \(exhibit.title)" }

    private var versions: String {
        let width = findings.map(\.version.name.count).max() ?? 0
        let indent = String(repeating: " ", count: width + 6)
        return findings.map { finding in
            let version = finding.version
            let mark = finding.report.holds && version.unseenFault == nil ? "✓" : "✗"
            let listings = version.listings.map { "listing: \($0.name), in “\($0.article.rawValue)”" }
            let lines =
                listings.flatMap { $0.wrapped(to: Self.width - indent.count) }
                + ["code: \(version.code)", "\(finding.verdict)\(finding.isExpected ? "" : " – NOT AS EXPECTED")"]
                + [version.repair.map { "repair: \($0)" }].compactMap(\.self)
            return "  \(mark) \(version.name.padded(to: width))  \(version.summary)\n"
                + lines.map { indent + $0 }.joined(separator: "\n")
        }
        .joined(separator: "\n")
    }

    private func steps(_ finding: Finding) -> String? {
        guard let failure = finding.report.failure else { return nil }
        let name = finding.version.name
        return """
            \(paragraph("\(name), schedule \(failure.schedule): \(summary(of: failure))."))

            \(failure.trace)

            Again: swift run race-gallery \(exhibit.name) \(name) \(failure.schedule)
            """
    }

    /// The message without the explorer's warning about what it does not control: it controls all of an exhibit.
    private func summary(of failure: ScenarioFailure) -> String {
        failure.kind == .lostWaiter
            ? String(failure.message.prefix { $0 != "(" }).wrapped(to: .max).joined() : failure.message
    }

    private func paragraph(_ text: String) -> String {
        text.wrapped(to: Self.width).joined(separator: "\n")
    }
}

/// The last line of a run.
@available(Executors, *)
struct Summary: Sendable {
    let findings: [(exhibit: Exhibit, findings: [Finding])]

    var isGood: Bool { surprises.isEmpty }

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
