import ConsoleSupport
import Foundation

/// The command `benchmarks`.
@main
enum Benchmarks {
    private static let console = Console(program: "benchmarks")

    static func main() async {
        let status = await console.run {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            if let store = options.heldStore {
                try await StoreHolder.hold(store)
            } else if options.isHelp {
                try console.print(Options.help)
            } else if let workload = options.workload {
                try await workload.run(count: options.count)
            } else {
                try write(try await run(options), options)
            }
            return .good
        }
        exit(status.rawValue)
    }

    /// All comparisons, in the order of the table.
    private static func comparisons(isQuick: Bool) -> [Comparison] {
        HitRows.all(isQuick: isQuick) + AccountRow.all(isQuick: isQuick) + WaiterRows.all(isQuick: isQuick)
            + MissRows.all(isQuick: isQuick) + LockRows.all(isQuick: isQuick) + StoreRows.all(isQuick: isQuick) + [
                ExplorerRow.comparison(isQuick: isQuick)
            ]
    }

    private static func run(_ options: Options) async throws -> [Outcome] {
        let all = comparisons(isQuick: options.isQuick)
        let comparisons = all.filter { comparison in
            guard let filter = options.filter else { return true }
            return comparison.row.split(separator: ", ").contains { $0 == filter }
                || filter.count > 1 && comparison.name.localizedCaseInsensitiveContains(filter)
        }
        guard !comparisons.isEmpty else {
            let rows = Set(all.flatMap { $0.row.split(separator: ", ") }).sorted().joined(separator: ", ")
            throw UsageError("no row fits the filter; the rows are \(rows)")
        }
        for file in [options.jsonFile, options.svgFile].compactMap(\.self) { try checkWritable(file) }
        #if DEBUG
        console.say("A debug build says nothing about speed: swift run -c release benchmarks")
        #endif
        var outcomes: [Outcome] = []
        for (index, comparison) in comparisons.enumerated() {
            let outcome = try await comparison.run { round in
                if round % 10 == 0 {
                    console.showProgress("\(index + 1)/\(comparisons.count)  \(comparison.name)  round \(round)")
                }
            }
            console.endProgress()
            try console.print(Table(outcome: outcome).text)
            outcomes.append(outcome)
        }
        return outcomes
    }

    /// Checked before a minute of measuring, not after it.
    private static func checkWritable(_ file: String) throws {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        let manager = FileManager.default
        guard manager.isWritableFile(atPath: manager.fileExists(atPath: file) ? file : folder) else {
            throw UsageError("\(file) can't be written")
        }
    }

    private static func write(_ outcomes: [Outcome], _ options: Options) throws {
        if let file = options.jsonFile {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(outcomes).write(to: URL(fileURLWithPath: file))
        }
        if let file = options.svgFile {
            guard let picture = GrowthPicture(outcomes) else {
                throw UsageError("--svg needs several numbers of waiters or accounts")
            }
            try Data(picture.text.utf8).write(to: URL(fileURLWithPath: file))
        }
        let verdicts = outcomes.flatMap(\.verdicts)
        try console.print("\(verdicts.count { $0.isMet }) of \(verdicts.count) targets met")
    }
}
