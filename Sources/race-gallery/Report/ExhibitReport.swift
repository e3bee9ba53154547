import InterleavingExplorer

/// What is printed of one exhibit.
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
            let mark = finding.report.holds ? "✓" : "✗"
            let surprise = finding.isExpected ? "" : " – NOT AS EXPECTED"
            let what = "\(version.origin.rawValue): \(version.summary)"
            guard !isMermaid else {
                return "- \(mark) `\(version.name)`, \(what)\n  **\(finding.verdict)**\(surprise)"
            }
            let indent = String(repeating: " ", count: width + 6)
            return "  \(mark) \(version.name.padded(to: width))  \(what)\n\(indent)\(finding.verdict)\(surprise)"
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
        guard !isMermaid else {
            return "\(title)\n\n```mermaid\n\(MermaidDiagram(diagram: diagram).text)\n```"
        }
        return "\(title)\n\n\(TextDiagram(diagram).text)"
    }

    private func paragraph(_ text: String) -> String {
        text.wrapped(to: Self.width).joined(separator: "\n")
    }
}

extension ScenarioFailure {
    /// Without what can be read elsewhere: the explorer warns of what it does not control, and all is controlled here.
    var summary: String {
        kind == .lostWaiter ? String(message.prefix { $0 != "(" }).wrapped(to: .max).joined() : message
    }
}
