/// The trace of a run as it grows.
@available(Executors, *)
struct Recording: Sendable {
    private(set) var steps: [TraceStep] = []
    /// Whether what happens now belongs into the trace: not the preparation, and not the checks.
    var isOn = false
    private var begun: Set<Int> = []
    /// Where a crash of the process finds the steps, if it is to find them, and where the line of the last one begins.
    private let record: RunRecord?
    private var lastLine = 0
    /// The actors that have a name, in order of first appearance.
    private var actors: [(address: UInt, type: String, name: String)] = []

    init(shownIn record: RunRecord? = nil) {
        self.record = record
    }

    /// What a step does that begins with a candidate, and the actor that it enters.
    ///
    /// - Parameters:
    ///   - owner: the name before the step.
    ///   - served: the names of those for whom the actor runs.
    ///   - now: virtual time before the step.
    mutating func beginning(
        of candidate: Candidate,
        by owner: String,
        for served: [String],
        at now: Duration
    ) -> (action: String, actor: String?) {
        let isFirst = begun.insert(candidate.participant).inserted
        let actor = candidate.entersActor ? nameOfActor(enteredBy: candidate) : nil
        let action =
            switch candidate.work {
            case .timer(let deadline, _): "\(candidate.label ?? "a timer fires") at \(max(deadline, now))"
            case .heldStep: "goes on"
            default:
                candidate.label ?? actor.map { Self.entry(into: $0, for: served, by: owner) }
                    ?? (isFirst ? "starts" : "continues")
            }
        return (action, actor)
    }

    /// What is said of an actor that runs as a part of the last step, for these participants.
    mutating func entry(by candidate: Candidate, for served: [String]) -> String {
        Self.entry(into: nameOfActor(enteredBy: candidate), for: served, by: steps.last?.participant)
    }

    /// The line begins with the owner of the step, who need not be named again.
    private static func entry(into actor: String, for served: [String], by owner: String?) -> String {
        served.isEmpty || served == [owner] ? "\(actor) runs" : "\(actor) runs for \(served.joined(separator: ", "))"
    }

    mutating func add(_ step: TraceStep) {
        steps.append(step)
        if let record {
            if steps.count > 1 { record.steps.append("\n") }
            lastLine = record.steps.length
        }
        showLastStep()
    }

    mutating func add(_ event: TraceEvent) {
        guard let last = steps.indices.last else { return }
        steps[last].events.append(event)
        showLastStep()
    }

    private func showLastStep() {
        guard let record, let step = steps.last else { return }
        record.steps.shorten(to: lastLine)
        record.steps.append(step.line(numberTo: 2, nameTo: 8))
    }

    /// The name of the actor that a candidate enters: its type, with a number from the second one of that type on.
    private mutating func nameOfActor(enteredBy candidate: Candidate) -> String {
        guard let address = candidate.job?.actor, let actor = unsafe UnsafeRawPointer(bitPattern: address) else {
            return "an actor"
        }
        let type = unsafe String(describing: type(of: Unmanaged<AnyObject>.fromOpaque(actor).takeUnretainedValue()))
        if let known = actors.first(where: { $0.address == address && $0.type == type }) {
            return known.name
        }
        let ordinal = 1 + actors.count { $0.type == type }
        let name = ordinal == 1 ? type : "\(type) \(ordinal)"
        actors.append((address, type, name))
        return name
    }
}
