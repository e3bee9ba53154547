import ConsoleSupport
import Foundation

/// The command `benchmarks`.
@main
enum Benchmarks {
    private static let console = Console(program: "benchmarks")
    private static let counts = 0...1_000_000

    static func main() async {
        keepFromProxy()
        let status = await console.run {
            var filter = ""
            var isQuick = false
            var arguments = Arguments(Array(CommandLine.arguments.dropFirst()))
            while let option = try arguments.next() {
                switch option {
                case "--filter": filter = try arguments.value()
                case "--quick": isQuick = true
                case "--serve":
                    try AccountServer.serve(limit: Int(arguments.value()) ?? 0)
                    return .good
                case AccountRow.option:
                    let (accounts, callers) = try (arguments.number(in: counts), arguments.number(in: counts))
                    let server = try AccountServer(limit: arguments.number(in: counts))
                    let row = try await AccountRow.run(accounts, callers: callers, at: server)
                    try console.print(String(decoding: JSONEncoder().encode(row), as: UTF8.self))
                    return .good
                #if Postgres
                case FleetWorker.option:
                    guard let url = try URL(string: arguments.value()) else { throw UsageError.unknown(option) }
                    let kind = try arguments.value()
                    let (first, count) = try (arguments.number(in: counts), arguments.number(in: counts))
                    try await FleetWorker.run(url, kind: kind, first: first, count: count)
                    return .good
                #endif
                case "--help", "-h":
                    try console.print(help)
                    return .good
                default: throw UsageError.unknown(option)
                }
            }
            let comparisons = comparisons(isQuick).filter { filter.isEmpty || $0.title.contains(filter) }
            let hasAccounts = filter.isEmpty || AccountRow.title.contains(filter)
            try await run(
                comparisons,
                tables: tables(isQuick).filter { filter.isEmpty || $0.title.contains(filter) },
                accounts: hasAccounts ? (isQuick ? [1_000] : [1_000, 10_000, 60_000]) : []
            )
            return .good
        }
        exit(status.rawValue)
    }

    private static let help = """
        usage: benchmarks [--quick] [--filter TEXT]

        Measures what a call costs next to what it is compared with. The contenders of a table are sampled alternately, so
        that other work of the machine slows all of them alike. The ratio is the time over that of the first contender:
        the median over all rounds, and the quartiles in brackets. Trust the ratios: the times depend on the machine.

        The tables of the heap and of stores compare nothing. A store's figures are medians of single calls.

        The table of accounts has figures of single runs: so many accounts renew at once, at a server in another
        process, which takes 100 requests a second in one of the rows. "Callers" is how many of them call at once.
        "Alone" is how long as many requests take by URLSession alone. The slowest load is timed from its turn to its
        token. Memory and threads are the most that the process of the row had.

        The table of a fleet is there if the package trait Postgres is on and ACCESS_TOKEN_POSTGRES names a database of
        its own, as .ci/with-postgres does. Processes renew the tokens of 2,000 users, each once: the store is in memory,
        or in rows of the database. The figures are medians of three runs.

          --quick        fewer rounds, and at most 10,000 waiters and 1,000 accounts
          --filter TEXT  only tables whose title contains TEXT
          --help         print this text

        exit status: 0, also when a target is missed; 1 if nothing could be measured; 64 for bad usage; 74 if standard
        output could not be written
        """

    /// All comparisons, in the order of `Speed.md`.
    private static func comparisons(_ isQuick: Bool) -> [Comparison] {
        var comparisons = HitRows.all(isQuick)
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            comparisons += ThreadRows.all(isQuick) + AsyncWaiterRow.all(isQuick)
        }
        return comparisons + CallbackWaiterRow.all(isQuick) + MissRows.all(isQuick)
    }

    /// A table that compares nothing.
    private struct Table {
        let title: String
        let text: () async throws -> String
    }

    private static func tables(_ isQuick: Bool) -> [Table] {
        var tables = [Table(title: StoreRow.title) { try await StoreRow.text(isQuick) }]
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            tables.insert(Table(title: HeapRow.title) { HeapRow.text() }, at: 0)
        }
        #if Postgres
        if let database = ProcessInfo.processInfo.environment[FleetWorker.database] {
            let fleet = Table(title: FleetRow.title) {
                try await FleetRow.text(isQuick, in: database) { console.showProgress($0) }
            }
            tables.append(fleet)
        }
        #endif
        return tables
    }

    private static func run(_ comparisons: [Comparison], tables: [Table], accounts: [Int]) async throws {
        guard !comparisons.isEmpty || !tables.isEmpty || !accounts.isEmpty else {
            throw UsageError("no title contains the text of --filter")
        }
        #if DEBUG
        console.say("A debug build says nothing about speed: swift run -c release benchmarks")
        #endif
        var targets: [Bool] = []
        for (index, comparison) in comparisons.enumerated() {
            let outcome = try await comparison.run { round in
                console.showProgress("\(index + 1)/\(comparisons.count)  \(comparison.title)  round \(round)")
            }
            console.endProgress()
            try console.print(outcome.text)
            targets += outcome.targets
        }
        for table in tables {
            console.showProgress(table.title)
            let text = try await table.text()
            console.endProgress()
            try console.print(text)
        }
        if !accounts.isEmpty {
            var rows: [AccountRow] = []
            for count in accounts {
                console.showProgress("\(count) \(AccountRow.title)")
                if count == 60_000 { try rows.append(AccountRow.inOwnProcess(count, callers: 50)) }
                try rows.append(AccountRow.inOwnProcess(count))
                if count == 1_000 { try rows.append(AccountRow.inOwnProcess(count, limit: 100)) }
            }
            console.endProgress()
            try console.print(AccountRow.text(of: rows))
            targets += rows.flatMap(\.targets).map(\.isMet)
        }
        guard !targets.isEmpty else { return }
        try console.print("\(targets.count(where: \.self)) of \(targets.count) targets met")
    }
}
