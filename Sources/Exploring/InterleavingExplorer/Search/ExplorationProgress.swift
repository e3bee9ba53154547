/// How far a search is.
@available(Executors, *)
public struct ExplorationProgress: Sendable, CustomStringConvertible {
    /// A part of a search.
    package enum Part: String, Sendable, Hashable {
        /// From few delays to many.
        case inOrder = "in order"
        /// By priorities that are drawn.
        case atRandom = "at random"
        /// In order, and no step is held in its middle.
        case withoutInterruptions = "without interruptions"
    }

    /// The name of the scenario.
    public let scenario: String
    /// Which part of the search is under way.
    package let part: Part
    /// The number of runs so far in all parts, redundant ones included.
    public let runs: Int
    /// How long the search has taken so far, in real time.
    public let duration: Duration
    /// The last schedule that was not redundant.
    public let lastSchedule: Schedule

    /// The mean number of runs in a second.
    private var runsPerSecond: Double { Double(runs) / max(duration / .seconds(1), 0.000_001) }

    /// All of it, in one line.
    public var description: String {
        let seconds = (duration / .seconds(1)).rounded()
        return """
            \(scenario): \(runs) runs in \(Int(seconds)) s, \(Int(runsPerSecond)) a second, \(part.rawValue); \
            the last new schedule is \(lastSchedule)
            """
    }
}

/// The time that a search takes, and whom it tells how far it is.
@available(Executors, *)
struct SearchTime: Sendable {
    private let start = ContinuousClock.now
    private var told = ContinuousClock.now
    private var hasShownLine = false
    /// Runs of parts of the search that began anew, or that have a count of their own.
    var runsBefore = 0
    var part = ExplorationProgress.Part.inOrder
    private var lastDigits: [UInt8] = []
    /// Whether the search has taken as long as it may.
    private(set) var isOver = false

    /// Whether the search has taken so long by now.
    func hasTaken(_ limit: Duration?) -> Bool {
        limit.map { ContinuousClock.now - start >= $0 } ?? false
    }

    /// Notes that a run has ended, and tells how far the search is if that is due.
    mutating func runEnded(
        _ execution: Execution,
        in report: ExplorationReport,
        of steps: Schedule.Steps,
        _ explorer: Explorer
    ) {
        if !execution.isPruned { lastDigits = execution.digits }
        let now = ContinuousClock.now
        if hasTaken(explorer.maximumDuration) { isOver = true }
        guard now - told >= explorer.progressInterval, explorer.onProgress != nil || StandardError.isTerminal else {
            return
        }
        told = now
        let progress = ExplorationProgress(
            scenario: report.scenario,
            part: part,
            runs: runsBefore + report.runs,
            duration: now - start,
            lastSchedule: Schedule(digits: lastDigits, of: steps)
        )
        if let onProgress = explorer.onProgress { return onProgress(progress) }
        hasShownLine = true
        // A line that wraps would stay where it is: the terminal is told to cut it off at its width instead.
        StandardError.append("\r\u{1B}[?7l\(progress)\u{1B}[K\u{1B}[?7h")
    }

    /// Takes the line away that shows on a terminal how far the search is.
    func end() {
        if hasShownLine { StandardError.append("\r\u{1B}[K") }
    }
}
