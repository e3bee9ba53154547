extension Trace {
    /// The source of a Mermaid `sequenceDiagram`, with the operations as participants.
    ///
    /// A note over a participant says what it does, with the number of the step; an arrow says whom that makes
    /// ready, and `an actor` stands for all of them. Steps ahead of their turn are marked: they are what the
    /// schedule is about.
    public var mermaid: String {
        let names = participants
        func id(_ name: String) -> String {
            "p\(names.firstIndex(of: name) ?? 0)"
        }
        var lines = names.map { "participant \(id($0)) as \($0.escaped)" }
        if steps.contains(where: \.runsActor) {
            lines.append("participant actors as an actor")
        }
        for step in steps {
            let mark = step.isDeparture ? " (ahead of its turn)" : ""
            let place = step.isActorOnly ? "actors" : id(step.participant)
            lines.append("Note over \(place): \(step.number) \(step.action.escaped)\(mark)")
            for event in step.events {
                let participant = id(event.participant)
                switch event.kind {
                case .enters: lines.append("\(participant)->>actors: runs")
                case .starts: lines.append("\(participant)->>\(id(event.text)): starts")
                case .wakes: lines.append("\(participant)-->>\(id(event.text)): wakes")
                case .note, .effect: lines.append("Note over \(participant): \(event.text.escaped)")
                case .ends: lines.append("Note over \(participant): ends")
                }
            }
        }
        return (["sequenceDiagram"] + lines.map { "    \($0)" }).joined(separator: "\n")
    }
}

extension TraceStep {
    /// What a step is called that does nothing but let an actor run.
    static let actorAction = "an actor runs"

    fileprivate var isActorOnly: Bool {
        action == Self.actorAction
    }

    fileprivate var runsActor: Bool {
        isActorOnly || events.contains { $0.kind == .enters }
    }
}

extension String {
    /// Without what Mermaid would take for its own syntax.
    fileprivate var escaped: String {
        reduce(into: "") { text, character in
            switch character {
            case "#": text += "#35;"
            case ";": text += "#59;"
            case "\n": text += "<br/>"
            default: text.append(character)
            }
        }
    }
}
