import InterleavingExplorer

/// A trace made short enough to be read: who says what, and who wakes whom.
///
/// What a task does is told by the operation that started it, and all that comes from outside of the subject
/// has one line. Steps in which nothing is told are left out, unless they ran ahead of their turn.
struct SequenceDiagram: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        case note(String)
        case wakes(lane: String, String)
    }

    struct Row: Hashable, Sendable {
        let step: TraceStep
        let lane: String
        let content: Content
        /// Whether it is the first row of its step.
        let isFirst: Bool
    }

    static let outside = "outside"

    /// From left to right, the world outside last.
    let lanes: [String]
    let rows: [Row]

    init(_ trace: Trace) {
        var rows: [Row] = []
        let participants = trace.participants
        for step in trace.steps {
            for (lane, content) in Self.contents(of: step, among: participants) {
                let isFirst = rows.last?.step.number != step.number
                rows.append(Row(step: step, lane: lane, content: content, isFirst: isFirst))
            }
        }
        self.rows = rows
        var lanes: [String] = []
        for row in rows {
            var names = [row.lane]
            if case .wakes(let lane, _) = row.content {
                names.append(lane)
            }
            for name in names where name != Self.outside && !lanes.contains(name) {
                lanes.append(name)
            }
        }
        self.lanes = lanes + [Self.outside]
    }

    private static func contents(
        of step: TraceStep,
        among participants: [String]
    ) -> [(lane: String, content: Content)] {
        let lane = lane(of: step, among: participants)
        let task = step.participant.split(separator: "/").dropFirst().joined(separator: "/")
        var contents: [(lane: String, content: Content)] = []
        var label = lane == outside && task.isEmpty ? step.action : nil
        for event in step.events {
            let speaker = event.participant == step.participant ? lane : Self.lane(of: event.participant)
            switch event.kind {
            case .note, .effect:
                contents.append((speaker, .note(event.text)))
            case .wakes where Self.lane(of: event.text) != speaker:
                contents.append((speaker, .wakes(lane: Self.lane(of: event.text), label ?? "wakes")))
                label = nil
            case .wakes, .starts, .enters, .ends:
                break
            }
        }
        if let label {
            contents.insert((outside, .note(label)), at: 0)
        } else if contents.isEmpty, step.isDeparture || (step.action == "starts" && lane != outside) {
            // A task that nobody in the scenario has started was found waiting for the world outside.
            let action = lane == outside ? "goes on" : step.action
            contents.append((lane, .note(task.isEmpty ? step.action : "task \(task) \(action)")))
        }
        return contents
    }

    /// Whose step it is; a queue runs the job of somebody.
    private static func lane(of step: TraceStep, among participants: [String]) -> String {
        let served = participants.first { step.action == "runs \($0)" }
        return lane(of: served ?? step.participant)
    }

    /// The operation at the beginning of a task's name, or the world outside.
    private static func lane(of participant: String) -> String {
        let name = participant.prefix { $0 != "/" && $0 != ":" }
        return ["scenario", "clock"].contains(name) ? outside : String(name)
    }
}
