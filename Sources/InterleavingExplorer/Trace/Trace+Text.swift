extension Trace: CustomStringConvertible {
    /// One line for each step; a `*` marks a departure from first-in-first-out order.
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
