#if Postgres
import AccessTokenAsync
import AccessTokenPostgres
import AccessTokenSynchronization
import ConsoleSupport
import Dispatch
import Foundation

/// How many users a second some processes renew, and what a renewal costs them and the database.
struct FleetRow: Sendable {
    static let title = "renewals of a fleet"

    private static let header = [
        title, "processes", "a second", "processor ms of the processes", "processor ms of PostgreSQL",
    ]
    private static let users = 2_000
    private static let furtherRows = 100_000

    let kind: String
    let processes: Int
    let perSecond: Double
    /// Milliseconds of processor for each renewal.
    let ofProcesses: Double
    let ofDatabase: Double

    /// Every row, by the median of some rounds.
    static func text(
        _ isQuick: Bool,
        in connection: String,
        _ showProgress: (String) -> Void
    ) async throws -> String {
        let rounds = isQuick ? 1 : 3
        let server = try AccountServer()
        let kinds = FleetWorker.kinds
        let cases = [1, 2, 4].flatMap { [(kinds.memory, $0), (kinds.rows, $0)] }
        var samples = [[FleetRow]](repeating: [], count: cases.count + 1)
        for round in 1...rounds {
            for (index, (kind, processes)) in cases.enumerated() {
                showProgress("round \(round), \(processes) by \(kind)")
                samples[index].append(try run(kind, processes, at: server))
            }
        }
        let database = PostgresConnection(
            to: PostgresServer(connection),
            on: DispatchQueueExecutor(queue: DispatchQueue(label: "fleet"))
        )
        try await database.open()
        try await database.run(
            """
            INSERT INTO access_token_credentials (name, version, record, written)
            SELECT 'further ' || number, 1, convert_to(repeat('x', 600), 'UTF8'), clock_timestamp()
            FROM generate_series(1, \(furtherRows)) AS number
            """
        )
        for round in 1...rounds {
            showProgress("round \(round), among \(furtherRows) rows")
            samples[cases.count].append(try run(kinds.rows, 2, at: server, named: "rows, and \(furtherRows) more"))
        }
        let rows = samples.map(median)
        let table = TextTable(header: header, rows: rows.map(\.cells)).text
        return ([table] + verdicts(on: rows)).joined(separator: "\n") + "\n"
    }

    private static func verdicts(on rows: [FleetRow]) -> [String] {
        func verdict(_ isMet: Bool, _ text: String) -> String { "\(isMet ? "met:   " : "MISSED:") \(text)" }
        func decimals(_ number: Double) -> String { String(format: "%.2f", number) }
        var verdicts: [String] = []
        for pair in stride(from: 0, to: rows.count - 1, by: 2) {
            let (memory, shared) = (rows[pair], rows[pair + 1])
            let ratio = shared.perSecond / memory.perSecond
            verdicts.append(
                verdict(ratio >= 0.6, "0.6 × memory at least with \(memory.processes) processes: \(decimals(ratio))")
            )
            let cost = shared.ofProcesses - memory.ofProcesses
            verdicts.append(verdict(cost <= 0.5, "0.5 ms of processor for the store at most: \(decimals(cost))"))
        }
        if let last = rows.last {
            let ratio = last.perSecond / rows[3].perSecond
            verdicts.append(verdict(ratio >= 0.9, "further rows change nothing: \(decimals(ratio)) × as many"))
        }
        return verdicts
    }

    private var cells: [String] {
        let figures = [ofProcesses, ofDatabase].map { String(format: "%.2f", $0) }
        return [kind, "\(processes)", "\(Int(perSecond))"] + figures
    }

    private static func median(_ rows: [FleetRow]) -> FleetRow {
        rows.sorted { $0.perSecond < $1.perSecond }[rows.count / 2]
    }

    // MARK: One run

    private struct NoRow: Error, CustomStringConvertible {
        let description = "a process of the fleet failed; what it says stands above"
    }

    private static func run(
        _ kind: String,
        _ processes: Int,
        at server: AccountServer,
        named name: String? = nil
    ) throws -> FleetRow {
        let each = users / processes
        let workers = try (0..<processes).map { number in
            try Worker([FleetWorker.option, server.url.absoluteString, kind, "\(number * each)", "\(each)"])
        }
        for worker in workers { guard worker.line() == "ready" else { throw NoRow() } }
        let (database, watch) = (databaseSeconds, Stopwatch())
        for worker in workers { worker.goOn() }
        let outcomes = try workers.map { worker in
            try JSONDecoder().decode(FleetWorker.Outcome.self, from: Data(worker.line().utf8))
        }
        let (seconds, renewed) = (watch.nanoseconds / 1e9, outcomes.reduce(0) { $0 + $1.renewed })
        let ofDatabase = databaseSeconds - database
        for worker in workers { worker.end() }
        let milliseconds = 1000 / Double(renewed)
        return FleetRow(
            kind: name ?? kind,
            processes: processes,
            perSecond: Double(renewed) / seconds,
            ofProcesses: outcomes.reduce(0) { $0 + $1.processorSeconds } * milliseconds,
            ofDatabase: ofDatabase * milliseconds
        )
    }

    /// Seconds of processor of all that is called `postgres` and runs, where the system tells; 0 elsewhere.
    private static var databaseSeconds: Double {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.reduce(0) { sum, process in
            guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
                text.contains("(postgres)"), let rest = text.split(separator: ")").last?.split(separator: " "),
                rest.count > 12, let (user, system) = Optional((Double(rest[11]), Double(rest[12])))
            else { return sum }
            // A hundredth of a second each.
            return sum + ((user ?? 0) + (system ?? 0)) / 100
        }
    }

    /// A process of this program.
    private struct Worker {
        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()

        init(_ arguments: [String]) throws {
            process.executableURL = Bundle.main.executableURL
            process.arguments = arguments
            process.standardInput = input
            process.standardOutput = output
            try process.run()
        }

        /// What it prints next; it prints a line at a time, and waits then.
        func line() -> String {
            String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }

        func goOn() { try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

        func end() {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
    }
}
#endif
