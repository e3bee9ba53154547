@available(Executors, *)
extension Trace {
    /// The steps as a sequence diagram in the text form of Mermaid, with a lane for each task.
    ///
    /// GitHub draws it where it stands in a block of code with the language `mermaid`. An arrow shows who has started
    /// or woken whom. A `*` marks a step out of first-in-first-out order.
    public var diagram: String {
        Diagram(of: steps).text
    }
}

@available(Executors, *)
extension ScenarioFailure {
    /// The steps that led to the failure as a diagram, see ``Trace/diagram``, with the failure below them.
    public var diagram: String {
        var diagram = Diagram(of: trace.steps)
        diagram.end(with: "\(kind): \(message)")
        return diagram.text
    }
}

@available(Executors, *)
private struct Diagram {
    /// The lanes in order of first appearance.
    private var lanes: [String] = []
    private var lines: [String] = []

    init(of steps: [TraceStep]) {
        for step in steps { add(step) }
    }

    var text: String {
        let participants = lanes.indices.map { "participant \(name(ofLane: $0)) as \(escaped(lanes[$0]))" }
        return (["sequenceDiagram"] + (participants + lines).map { "    \($0)" }).joined(separator: "\n")
    }

    mutating func end(with text: String) {
        guard let last = lanes.indices.last else { return }
        let lanes = last == 0 ? name(ofLane: 0) : "\(name(ofLane: 0)),\(name(ofLane: last))"
        lines.append("Note over \(lanes): \(escaped(text))")
    }

    /// A note says what a step does by itself, up to the next arrow.
    private mutating func add(_ step: TraceStep) {
        var (owner, texts) = (step.participant, ["\(step.number)\(step.isDeparture ? "*" : "") \(step.action)"])
        func note(in diagram: inout Diagram) {
            guard !texts.isEmpty else { return }
            let lane = diagram.lane(of: owner)
            diagram.lines.append("Note over \(lane): \(texts.map(diagram.escaped).joined(separator: "<br/>"))")
            texts = []
        }
        for event in step.events {
            switch event.kind {
            case .starts, .wakes:
                note(in: &self)
                let (from, to) = (lane(of: event.participant), lane(of: event.text))
                lines.append("\(from)->>\(to): \(event.kind.rawValue)")
            case .enters, .timer, .looks, .note, .effect, .ends:
                if event.participant != owner { note(in: &self) }
                owner = event.participant
                texts.append(step.text(of: event, saysWho: false))
            }
        }
        note(in: &self)
    }

    private mutating func lane(of participant: String) -> String {
        if let known = lanes.firstIndex(of: participant) { return name(ofLane: known) }
        lanes.append(participant)
        return name(ofLane: lanes.count - 1)
    }

    private func name(ofLane index: Int) -> String { "p\(index + 1)" }

    /// The text without what Mermaid takes for the end of a statement, or for a tag.
    private func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "#", ";", "<", ">", "\"": "#\(character.unicodeScalars.map { String($0.value) }.joined());"
            case _ where character.isNewline: " "
            default: String(character)
            }
        }
        .joined()
    }
}
