/// The signs of a search that operations share something which no mark shows.
@available(Executors, *)
struct UnmarkedState: Sendable {
    /// The operations that share something the explorer sees, in any of the runs.
    private var related: UInt64 = 0
    private var operations: [(bit: UInt64, name: String)] = []
    private var unseenWaking: String?
    private var isPermitted = false

    /// Looks at what a run has seen.
    mutating func look(at run: RunState) {
        related |= run.sharing.related
        unseenWaking = unseenWaking ?? run.findings.unseenWaking
        isPermitted = run.permitsNothingShared
        if operations.isEmpty {
            let participants = run.participants
            operations = participants.operations.map { (Sharing.bit(of: $0), participants.name(of: $0)) }
        }
    }

    /// What seems to be unmarked, and what to do; `nil` if nothing.
    var complaint: String? {
        guard !isPermitted else { return nil }
        let alone = operations.filter { related & $0.bit == 0 }.map { "“\($0.name)”" }
        let sign: String
        if operations.count > 1, !alone.isEmpty {
            sign = "between \(alone.joined(separator: ", ")) and others"
        } else if let unseenWaking {
            sign = "that tells how \(unseenWaking)"
        } else {
            return nil
        }
        return """
            Nothing shared was seen \(sign): is state behind a lock, an atomic, a stream or an executor unmarked? \
            Mark it: run.effect("name") { … }. If nothing is shared, call run.permitNothingShared() in the setup.
            """
    }
}
