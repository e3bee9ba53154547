extension Trace: CustomStringConvertible {
    /// One line for each step; a `*` marks a step out of first-in-first-out order.
    public var description: String {
        let width = steps.map(\.participant.count).max() ?? 0
        let digits = String(steps.count).count
        return steps.map { step in
            let number = padding(String(step.number), to: digits) + String(step.number)
            let name = step.participant + padding(step.participant, to: width)
            let line = ([step.action] + step.events.map { text(of: $0, in: step) }).joined(separator: "; ")
            return "\(step.isDeparture ? "*" : " ")\(number)  \(name)  \(line)"
        }
        .joined(separator: "\n")
    }

    private func text(of event: TraceEvent, in step: TraceStep) -> String {
        let subject = event.participant == step.participant ? "" : "\(event.participant) "
        return switch event.kind {
        case .enters: "\(event.text) runs"
        case .starts: "\(subject)starts \(event.text)"
        case .wakes: "\(subject)wakes \(event.text)"
        case .note: "\(subject)“\(event.text)”"
        case .effect: "\(subject)“\(event.text)” (effect)"
        case .ends: "\(subject)ends"
        }
    }
    private func padding(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count))
    }
}

extension Trace {
    /// The source of a Mermaid `sequenceDiagram`, with the operations as participants.
    ///
    /// A note over a participant says what it does, with the number of the step; an arrow says whom that makes
    /// ready, or which actor runs. Steps out of first-in-first-out order are marked:
    /// they are what the schedule is about.
    public var mermaid: String {
        let names = participants
        func id(_ name: String) -> String {
            "p\(names.firstIndex(of: name) ?? 0)"
        }
        var lines = names.map { "participant \(id($0)) as \($0.escaped)" }
        let actors = actors
        func id(actor: String) -> String {
            "a\(actors.firstIndex(of: actor) ?? 0)"
        }
        lines += actors.map { "participant \(id(actor: $0)) as \($0.escaped)" }
        for step in steps {
            let mark = step.isDeparture ? " (out of order)" : ""
            let place = step.actor.map { id(actor: $0) } ?? id(step.participant)
            lines.append("Note over \(place): \(step.number) \(step.action.escaped)\(mark)")
            for event in step.events {
                let participant = id(event.participant)
                switch event.kind {
                case .enters: lines.append("\(participant)->>\(id(actor: event.text)): runs")
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
