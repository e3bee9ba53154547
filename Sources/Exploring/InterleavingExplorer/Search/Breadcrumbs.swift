/// The schedule that runs now, which can be read from outside: from a file after a crash, by the watchdog when a step hangs.
@available(Executors, *)
final class Breadcrumbs: Sendable {
    private struct State: Sendable {
        var digits: [UInt8] = []
        var entersActorsLater = false
        var schedules = 0
        weak var run: ScenarioRun?
    }

    private let state = Protected(State())
    private let header: String
    private let file: OutputFile?

    /// Breadcrumbs of a scenario, which go to a file as well if there is one to be written.
    init(_ scenario: String, file path: String?) {
        header = "\(scenario)\n"
        file = path.flatMap { OutputFile(path: $0) }
        file?.append(header)
    }

    /// Whether they can be read after a crash.
    var hasFile: Bool { file != nil }

    /// Notes that a run begins, after so many schedules.
    func begin(_ run: ScenarioRun, after schedules: Int) {
        state.withLock { state in
            state.digits = []
            state.entersActorsLater = run.entersActorsLater
            state.schedules = schedules
            state.run = run
        }
        file?.cut(to: header.utf8.count)
        if run.entersActorsLater { file?.append(String(Schedule.mark)) }
    }

    /// Notes a choice.
    func add(_ digit: UInt8) {
        state.withLock { $0.digits.append(digit) }
        file?.append(String(digit, radix: Schedule.radix))
    }

    /// The choices so far, the schedules before, and who runs.
    var present: (schedule: Schedule, schedules: Int, participant: String?) {
        let (schedule, schedules, run) = state.withLock { state in
            (Schedule(digits: state.digits, entersActorsLater: state.entersActorsLater), state.schedules, state.run)
        }
        let participant = run?.state.withLock { $0.name(of: $0.segment.participant) }
        return (schedule, schedules, participant)
    }
}
