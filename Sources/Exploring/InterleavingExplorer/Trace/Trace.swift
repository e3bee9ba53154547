/// The recorded history of one schedule, by name.
@available(Executors, *)
public struct Trace: Sendable, Hashable, CustomStringConvertible {
    /// The steps in the order in which they ran.
    public let steps: [TraceStep]

    /// The marked effects in the order in which they happened.
    public var effects: [String] {
        steps.flatMap(\.events).filter { $0.kind == .effect }.map(\.text)
    }

    /// One line for each step; a `*` marks a step out of first-in-first-out order.
    public var description: String {
        let width = steps.map(\.participant.count).max() ?? 0
        let digits = String(steps.count).count
        return steps.map { $0.line(numberTo: digits, nameTo: width) }.joined(separator: "\n")
    }
}

/// One step of a schedule: what ran from one choice to the next.
@available(Executors, *)
public struct TraceStep: Sendable, Hashable {
    /// The position in the trace, from 1.
    public let number: Int
    /// Who ran: an operation, a task that it started, `scenario`, `clock`, or a queue.
    ///
    /// Where an actor ran, it is the first of those whose calls the actor served.
    public let participant: String
    /// What it did, such as `starts`, `continues`, `Account runs for first, second`, or the name of a scenario's step.
    public let action: String
    /// The actor that ran, if the step did nothing else.
    let actor: String?
    /// Which of the candidates was taken, from 0: the one that had waited longest.
    public let choice: Int
    /// How many candidates there were.
    public let width: Int
    /// Virtual time at the beginning of the step.
    public let time: Duration
    /// What happened meanwhile, in order.
    public internal(set) var events: [TraceEvent]

    /// Whether something else would have run if first-in-first-out order had been kept.
    var isDeparture: Bool { choice != 0 }

    /// The line of the step, with its number and its participant in columns of these widths.
    func line(numberTo numberWidth: Int, nameTo nameWidth: Int) -> String {
        func padding(_ text: String, to width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count))
        }
        let number = padding(String(number), to: numberWidth) + String(number)
        let name = participant + padding(participant, to: nameWidth)
        return "\(isDeparture ? "*" : " ")\(number)  \(name)  \(whatHappens)"
    }

    /// The action and the events.
    var whatHappens: String { ([action] + events.map { text(of: $0) }).joined(separator: "; ") }

    func text(of event: TraceEvent, saysWho: Bool = true) -> String {
        let subject = !saysWho || event.participant == participant ? "" : "\(event.participant) "
        return switch event.kind {
        case .enters: event.text
        case .starts: "\(subject)starts \(event.text)"
        case .wakes: "\(subject)wakes \(event.text)"
        case .timer, .looks: "\(subject)\(event.text)"
        case .note: "\(subject)“\(event.text)”"
        case .effect: "\(subject)“\(event.text)” (effect)"
        case .ends: "\(subject)ends"
        }
    }
}

/// Something that happened during a step.
@available(Executors, *)
public struct TraceEvent: Sendable, Hashable {
    /// What sort of event it is.
    public enum Kind: String, Sendable, Hashable {
        /// An actor that the step had made ready ran at once, as a part of it.
        case enters
        /// The step made another participant ready for the first time.
        case starts
        /// The step made another participant ready again.
        case wakes
        /// The step set a timer of the run's clock, or went to sleep.
        case timer
        /// Code looked whether its task, or another one, is cancelled.
        case looks
        /// The scenario or the subject noted something for the reader.
        case note
        /// The scenario or the subject marked a noticeable effect.
        case effect
        /// A participant came to its end.
        case ends
    }

    /// What sort of event it is.
    public let kind: Kind
    /// Who did it.
    public let participant: String
    /// Whom it concerns, for `starts` and `wakes`; the text, for `note` and `effect`; what happened, such as `sleeps
    /// until 0.3 seconds`, for `enters`, `timer` and `looks`; else empty.
    public let text: String
}

@available(Executors, *)
extension Trace {
    /// What to add to a subject of which the trace says again and again only that it runs; `nil` if nothing.
    var advice: String? {
        let entries = steps.filter { step in !step.events.contains { $0.kind == .note || $0.kind == .effect } }
            .flatMap { step in [step.actor] + step.events.map { $0.kind == .enters ? $0.text : nil } }
            .compactMap { name in name?.split(separator: " ").first.map { String($0) } }
        let silent = Dictionary(grouping: entries) { $0 }.filter { $0.value.count > 10 }.keys.sorted()
        guard !silent.isEmpty else { return nil }
        return silent.map { name in
            "To see which method of \(name) runs, begin each with: ScheduledRun.current?.note(\"\(name).\\(#function)\")"
        }
        .joined(separator: "\n")
    }
}
