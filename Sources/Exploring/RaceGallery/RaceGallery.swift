import ConsoleSupport
import Foundation
import InterleavingExplorer

/// The command `race-gallery`.
@available(Executors, *)
@main
enum RaceGallery {
    static let console = Console(program: "race-gallery")

    static func main() async {
        let status = await console.run {
            try await run(try Options(Array(CommandLine.arguments.dropFirst())))
        }
        exit(status.rawValue)
    }

    static func run(_ options: Options) async throws -> ExitStatus {
        switch options.command {
        case .help:
            try console.print(Options.help)
            return .good
        case .list:
            try console.print(Options.list)
            return .good
        case .show(let exhibits):
            return try await show(exhibits, isMermaid: options.isMermaid)
        case .replay(let schedule, let version, let exhibit):
            let report = ReplayReport(
                exhibit: exhibit,
                version: version,
                schedule: schedule,
                replay: await Explorer().replay(schedule, of: version.scenario),
                isMermaid: options.isMermaid
            )
            try console.print(report.text)
            return report.isExpected ? .good : .failed
        }
    }

    /// Explores the exhibits one after another, and prints each as soon as it is explored.
    static func show(_ exhibits: [Exhibit], isMermaid: Bool) async throws -> ExitStatus {
        var summary = Summary(findings: [])
        for exhibit in exhibits {
            var findings: [Finding] = []
            for version in exhibit.versions {
                console.showProgress(
                    "exploring \(exhibit.name): \(version.name)",
                    orLine: findings.isEmpty ? "exploring \(exhibit.name)" : nil
                )
                findings.append(await version.explore())
            }
            console.endProgress()
            let report = ExhibitReport(
                exhibit: exhibit,
                findings: findings,
                drawsAll: exhibits.count == 1,
                isMermaid: isMermaid
            )
            try console.print(report.text + "\n")
            summary.findings.append((exhibit, findings))
        }
        try console.print(summary.text)
        return summary.isGood ? .good : .failed
    }
}
