/// The recorded history of one schedule, by name.
///
/// ``description`` draws it as text; ``mermaid`` as a sequence diagram with the operations as participants.
public struct Trace: Sendable, Hashable {
    /// The steps in the order in which they ran.
    public let steps: [TraceStep]

    /// The marked effects in the order in which they happened.
    public var effects: [String] {
        steps.flatMap(\.events).filter { $0.kind == .effect }.map(\.text)
    }

    /// The actors that ran, in order of appearance: the name of the type, with a number from the second of a type on.
    public var actors: [String] {
        var names: [String] = []
        for step in steps {
            for name in [step.actor] + step.events.map({ $0.kind == .enters ? $0.text : nil }) {
                if let name, !names.contains(name) {
                    names.append(name)
                }
            }
        }
        return names
    }

    /// Everyone who took part, in order of appearance.
    public var participants: [String] {
        var names: [String] = []
        for step in steps {
            let others = step.events.flatMap { event in
                event.kind == .starts || event.kind == .wakes
                    ? [event.participant, event.text] : [event.participant]
            }
            for name in [step.participant] + others where !names.contains(name) {
                names.append(name)
            }
        }
        return names
    }
}
