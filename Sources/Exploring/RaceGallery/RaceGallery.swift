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
        case .replay(let schedule, let version):
            let replay = await Explorer().replay(schedule, of: version.scenario)
            try console.print(replay.description)
            guard let failure = replay.failure else { return .good }
            return failure.kind != .divergedReplay && version.breaks != nil ? .good : .failed
        }
    }

    /// Explores the exhibits one after another, and prints each as soon as it is explored.
    static func show(_ exhibits: [Exhibit]) async throws -> ExitStatus {
        var surprises: [String] = []
        for exhibit in exhibits {
            try console.print("\(exhibit.heading)\n")
            for version in exhibit.versions {
                let finding = await version.explore()
                try console.print("\(finding.text)\n")
                if !finding.isExpected { surprises.append("\(exhibit.name) \(version.name)") }
            }
        }
        let all =
            surprises.isEmpty
            ? "Every verdict is as expected." : "Not as expected: \(surprises.joined(separator: ", "))."
        try console.print(all)
        return surprises.isEmpty ? .good : .failed
    }
}
