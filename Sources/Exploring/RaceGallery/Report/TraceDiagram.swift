import ConsoleSupport
import InterleavingExplorer

@available(Executors, *)
extension SequenceDiagram {
    /// The lane of everything outside the subject: the server, the disk, the clock, a cancellation.
    private static let outside = "outside"

    /// Draws a trace, made short enough to be read: notes, effects, and who wakes whom.
    ///
    /// What a task does is shown on the lane of the operation that started it. Steps in which nothing is shown are left
    /// out, unless they departed from first-in-first-out order.
    init(_ trace: Trace) {
        var rows: [Row] = []
        let participants = trace.participants
        for step in trace.steps {
            for (index, content) in Self.contents(of: step, among: participants).enumerated() {
                rows.append(Row(mark: index == 0 ? "\(step.isDeparture ? "*" : "")\(step.number)" : "", content))
            }
        }
        var lanes: [String] = []
        for lane in rows.flatMap(\.content.lanes) where lane != Self.outside && !lanes.contains(lane) {
            lanes.append(lane)
        }
        self.init(lanes: lanes + [Self.outside], rows: rows)
    }

    private static func contents(
        of step: TraceStep,
        among participants: [String]
    ) -> [Content] {
        let lane = lane(of: step, among: participants)
        let task = step.participant.split(separator: "/").dropFirst().joined(separator: "/")
        var contents: [Content] = []
        var label = lane == outside && task.isEmpty ? step.action : nil
        for event in step.events {
            let speaker = event.participant == step.participant ? lane : Self.lane(of: event.participant)
            switch event.kind {
            case .note, .effect:
                contents.append(.note(lane: speaker, event.text))
            case .wakes where Self.lane(of: event.text) != speaker:
                contents.append(.arrow(from: speaker, to: Self.lane(of: event.text), isDashed: true, label ?? "wakes"))
                label = nil
            case .wakes, .starts, .enters, .ends:
                break
            }
        }
        if let label {
            contents.insert(.note(lane: outside, label), at: 0)
        } else if contents.isEmpty, step.isDeparture || (step.action == "starts" && lane != outside) {
            // A task outside is only known from the moment when it waits, so its start is not shown.
            let action = lane == outside ? "goes on" : step.action
            contents.append(.note(lane: lane, task.isEmpty ? step.action : "task \(task) \(action)"))
        }
        return contents
    }

    /// The lane of a step.
    ///
    /// A queue's step belongs to the participant whose job the queue runs.
    private static func lane(of step: TraceStep, among participants: [String]) -> String {
        let served = participants.first { step.action == "runs \($0)" }
        return lane(of: served ?? step.participant)
    }

    /// The operation at the beginning of a task's name, or the lane outside.
    private static func lane(of participant: String) -> String {
        let name = participant.prefix { $0 != "/" && $0 != ":" }
        return ["scenario", "clock"].contains(name) ? outside : String(name)
    }
}
