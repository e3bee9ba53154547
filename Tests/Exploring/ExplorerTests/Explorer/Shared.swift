import Dispatch
import Foundation
import InterleavingExplorer
import Testing

/// The text of a page of the explorer's documentation.
func textOfPage(_ name: String) throws -> String {
    let root = URL(filePath: #filePath).appending(path: "../../../../..").standardizedFileURL
    let catalog = "Sources/Exploring/InterleavingExplorer/InterleavingExplorer.docc"
    return try String(contentsOf: root.appending(path: "\(catalog)/\(name).md"), encoding: .utf8)
}

extension Protected<Int> {
    /// Counts, from 1.
    func next() -> Int {
        withLock { number in
            number += 1
            return number
        }
    }
}

extension Protected<Bool> {
    /// Whether it is set, the first time that it is asked.
    func take() -> Bool {
        withLock { isSet in
            defer { isSet = false }
            return isSet
        }
    }
}

/// Values in the order in which they came, for closures that must be sendable.
final class Journal: Sendable {
    private let entries = Protected<[String]>([])

    var all: [String] {
        entries.withLock { $0 }
    }

    func add(_ entry: String) {
        entries.withLock { $0.append(entry) }
    }
}

/// Does something on a thread that is not under control, and waits until it is done.
func elsewhere(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    DispatchQueue(label: "elsewhere").async {
        body()
        done.signal()
    }
    done.wait()
}

/// Never ends, and no code can resume it.
nonisolated(nonsending) func silence() async {
    await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
}

/// A server whose answer comes from outside of control.
final class OutsideServer: Sendable {
    private let answerLast = Protected<(@Sendable () -> Void)?>(nil)

    /// Waits for ``answer()``.
    nonisolated(nonsending) func load() async {
        await unsafe withUnsafeContinuation { continuation in
            answerLast.withLock { $0 = { unsafe continuation.resume() } }
        }
    }

    func answer() {
        answerLast.withLock { $0 }?()
    }
}

extension Explorer {
    /// The same explorer with another setting.
    func with<Value>(_ setting: WritableKeyPath<Explorer, Value>, _ value: Value) -> Explorer {
        var explorer = self
        explorer[keyPath: setting] = value
        return explorer
    }
}

/// Explores a scenario that is needed only once.
func explore(
    _ name: String,
    by explorer: Explorer = Explorer(),
    _ setUp: @escaping @Sendable (ScheduledRun) throws -> Void
) async -> ExplorationReport {
    await explorer.explore(Scenario(name, setUp: setUp))
}

/// What comes of a scenario: each run says so in the end, in the closure that its setup returns.
func outcomes(
    by explorer: Explorer = Explorer(.exhaustive),
    _ setUp: @escaping @Sendable (ScheduledRun) -> @Sendable () async -> String
) async -> (seen: Set<String>, report: ExplorationReport) {
    let report = await explore("outcomes", by: explorer) { run in run.outcome(setUp(run)) }
    return (Set(report.outcomes.keys), report)
}

/// The same of a scenario that can be exhausted.
func allOutcomes(
    by explorer: Explorer = Explorer(.exhaustive),
    _ setUp: @escaping @Sendable (ScheduledRun) -> @Sendable () async -> String
) async -> Set<String> {
    let (seen, report) = await outcomes(by: explorer, setUp)
    #expect(report.holds && report.isComplete, "\(report)")
    return seen
}

/// One search that has all its parts, and ends before it is complete; two suites look at what came of it.
enum BigSearch {
    /// The first runs, the random ones, those without interruptions, and 76 more.
    static let limit = 3_100

    /// Four tasks with three effects each have 369,600 orders, and 24 without interruptions.
    static let scenario = Scenario("four tasks of three effects") { run in
        for index in 0..<4 {
            run.operation("operation \(index)") { for _ in 0..<3 { run.effect("\(index)") } }
        }
    }

    /// The report, and what was told after each run.
    static let outcome = Task {
        let told = Protected<[ExplorationProgress]>([])
        var explorer = Explorer().with(\.maximumSchedules, limit)
        explorer.progressInterval = .zero
        explorer.onProgress = { progress in told.withLock { $0.append(progress) } }
        let report = await explorer.explore(scenario)
        return (report: report, told: told.withLock { $0 })
    }
}
