import InterleavingExplorer

/// The last lines of a run.
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
