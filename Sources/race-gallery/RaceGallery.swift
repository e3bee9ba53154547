import Foundation
import InterleavingExplorer

/// The command `race-gallery`.
@main
enum RaceGallery {
    static func main() async {
        let progress = ProgressLine()
        let status: ExitStatus
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            status = await run(options, progress)
        } catch {
            progress.say("race-gallery: \(error)\nTry race-gallery --help.")
            status = .usage
        }
        exit(status.rawValue)
    }

    static func run(_ options: Options, _ progress: ProgressLine) async -> ExitStatus {
        switch options.command {
        case .help:
            return write(Help.text, .good)
        case .list:
            return write(Help.list, .good)
        case .show(let exhibits):
            return await show(exhibits, isMermaid: options.isMermaid, progress)
        case .replay(let schedule, let version, let exhibit):
            let report = ReplayReport(
                exhibit: exhibit,
                version: version,
                schedule: schedule,
                replay: await Explorer().replay(schedule, of: version.scenario),
                isMermaid: options.isMermaid
            )
            return write(report.text, report.isExpected ? .good : .unexpected)
        }
    }

    /// Explores and prints one exhibit after another, so that there is something to read from the beginning.
    static func show(
        _ exhibits: [Exhibit],
        isMermaid: Bool,
        _ progress: ProgressLine
    ) async -> ExitStatus {
        var summary = Summary(findings: [])
        for exhibit in exhibits {
            var findings: [Finding] = []
            for version in exhibit.versions {
                progress.show(exhibit, version)
                findings.append(await version.explore())
            }
            progress.end()
            let report = ExhibitReport(
                exhibit: exhibit,
                findings: findings,
                drawsAll: exhibits.count == 1,
                isMermaid: isMermaid
            )
            guard write(report.text + "\n", .good) == .good else { return .noOutput }
            summary.findings.append((exhibit, findings))
        }
        return write(summary.text, summary.isGood ? .good : .unexpected)
    }

    private static func write(_ text: String, _ status: ExitStatus) -> ExitStatus {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
            return status
        } catch {
            ProgressLine().say("race-gallery: standard output could not be written: \(error.localizedDescription)")
            return .noOutput
        }
    }
}
