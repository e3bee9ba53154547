import Foundation

/// The command `benchmarks`.
@main
enum Benchmarks {
    static func main() async {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            if options.isHelp { return print(Options.help) }
            if let workload = options.workload { return try await workload.run(count: options.count) }
            let outcomes = try await run(options)
            try write(outcomes, options)
        } catch let error as UsageError {
            say("benchmarks: \(error). Try benchmarks --help.\n")
            exit(64)
        } catch {
            say("benchmarks: \(error)\n")
            exit(1)
        }
    }

    private static func run(_ options: Options) async throws -> [Outcome] {
        let all = Rows.all(isQuick: options.isQuick)
        let comparisons = all.filter { comparison in
            guard let filter = options.filter else { return true }
            return comparison.row.split(separator: ", ").contains { $0 == filter }
                || filter.count > 1 && comparison.name.localizedCaseInsensitiveContains(filter)
        }
        guard !comparisons.isEmpty else {
            let rows = Set(all.flatMap { $0.row.split(separator: ", ") }).sorted().joined(separator: ", ")
            throw UsageError(description: "no row is, or contains, what the filter says; the rows are \(rows)")
        }
        for file in [options.jsonFile, options.svgFile].compactMap(\.self) { try checkWritable(file) }
        #if DEBUG
        say("A debug build says nothing about speed: swift run -c release benchmarks\n")
        #endif
        let showsProgress = isatty(STDERR_FILENO) == 1
        var outcomes: [Outcome] = []
        for (index, comparison) in comparisons.enumerated() {
            let outcome = try await comparison.run { round in
                if showsProgress && round % 10 == 0 {
                    say("\r\u{1B}[K\(index + 1)/\(comparisons.count)  \(comparison.name)  round \(round)")
                }
            }
            if showsProgress { say("\r\u{1B}[K") }
            show(Table(outcome: outcome).text + "\n")
            outcomes.append(outcome)
        }
        return outcomes
    }

    /// Before a minute of measuring, not after it.
    private static func checkWritable(_ file: String) throws {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        let manager = FileManager.default
        guard manager.isWritableFile(atPath: manager.fileExists(atPath: file) ? file : folder) else {
            throw UsageError(description: "\(file) can't be written")
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
                throw UsageError(description: "--svg needs several numbers of waiters or accounts")
            }
            try Data(picture.text.utf8).write(to: URL(fileURLWithPath: file))
        }
        let verdicts = outcomes.flatMap(\.verdicts)
        show("\(verdicts.count { $0.isMet }) of \(verdicts.count) targets met\n")
    }

    /// At once, also into a pipe.
    private static func show(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    private static func say(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
