/// One step of a schedule: what ran from one choice to the next.
public struct TraceStep: Sendable, Hashable {
    /// The position in the trace, from 1.
    public let number: Int
    /// Who ran: an operation, a task that it started, `scenario`, `clock`, or a queue.
    public let participant: String
    /// What it did, such as `starts`, `continues`, or the name of a scenario's step.
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
    public var isDeparture: Bool {
        choice != 0
    }
}
