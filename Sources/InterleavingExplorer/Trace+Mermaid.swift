extension Trace {
    /// The source of a Mermaid `sequenceDiagram`, with the operations as participants.
    ///
    /// An arrow says who made whom ready, a note over a participant what it did. Steps that departed from
    /// first-in-first-out order are marked: they are what the schedule is about.
    public var mermaid: String {
        var lines = ["sequenceDiagram", "    autonumber"]
        let names = participants
        for (index, name) in names.enumerated() {
            lines.append("    participant p\(index) as \(name.escaped)")
        }
        func id(_ name: String) -> String {
            "p\(names.firstIndex(of: name) ?? 0)"
        }
        for step in steps {
            let mark = step.isDeparture ? " (ahead of its turn)" : ""
            lines.append("    Note over \(id(step.participant)): \(step.action.escaped)\(mark)")
            for event in step.events {
                let participant = id(event.participant)
                switch event.kind {
                case .enters: lines.append("    \(participant)->>\(participant): an actor runs")
                case .starts: lines.append("    \(participant)->>\(id(event.text)): starts")
                case .wakes: lines.append("    \(participant)-->>\(id(event.text)): wakes")
                case .note, .effect: lines.append("    Note over \(participant): \(event.text.escaped)")
                case .ends: lines.append("    Note over \(participant): ends")
                }
            }
        }
        return lines.joined(separator: "\n")
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
