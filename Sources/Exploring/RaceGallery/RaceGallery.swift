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
            try await run(try Command(Array(CommandLine.arguments.dropFirst())))
        }
        exit(status.rawValue)
    }

    static func run(_ command: Command) async throws -> ExitStatus {
        switch command {
        case .help:
            try console.print(Command.usage)
            return .good
        case .list:
            try console.print(Command.names)
            return .good
        case .show(let exhibits):
            return try await show(exhibits)
        case .draw(let schedule, let version):
            if schedule == nil, let diagram = await version.explore().report.diagram {
                try console.print(diagram)
                return .good
            }
            let replay = await Explorer().replay(schedule ?? Schedule(stringLiteral: "0"), of: version.scenario)
            try console.print(replay.failure?.diagram ?? replay.trace.diagram)
            return replay.failure?.kind == .divergedReplay ? .failed : .good
        case .replay(let schedule, let version, let exhibit):
            let replay = await Explorer().replay(schedule, of: version.scenario)
            try console.print(replay.description)
            guard let failure = replay.failure else { return .good }
            if failure.kind == .divergedReplay {
                try console.print("Schedules that fit: swift run race-gallery \(exhibit.name) \(version.name)")
            }
            return failure.kind != .divergedReplay && version.breaks != nil ? .good : .failed
        }
    }

    /// Explores the exhibits one after another, and prints each as soon as it is explored.
    static func show(_ exhibits: [Exhibit]) async throws -> ExitStatus {
        var all: [(exhibit: Exhibit, findings: [Finding])] = []
        for exhibit in exhibits {
            var findings: [Finding] = []
            for version in exhibit.versions {
                let name = "exploring \(exhibit.name): \(version.name)"
                console.showProgress(name)
                findings.append(
                    await version.explore { console.showProgress("\(name), \($0.runs) runs") }
                )
            }
            console.endProgress()
            try console.print(ExhibitReport(exhibit: exhibit, findings: findings).text + "\n")
            all.append((exhibit, findings))
        }
        let summary = Summary(findings: all)
        try console.print(summary.text)
        return summary.isGood ? .good : .failed
    }
}
