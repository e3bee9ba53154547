/// A subject broke a clause: what was expected, what was observed, and all that happened before.
public struct ContractViolation: Error, CustomStringConvertible {
    /// The clause.
    public let clause: ContractClause

    /// What should have happened.
    public let expected: String

    /// What happened instead.
    public let observed: String

    /// Everything that happened in the scenario, in order; tokens stand there by name.
    public let trace: [String]

    /// The line in the clause's source that expected it.
    public let line: Int

    /// All of it, over several lines.
    public var description: String {
        let steps = trace.enumerated().map { "    \($0.offset + 1). \($0.element)" }
        return """
            \(clause.id) broken: the subject must \(clause.must)
              expected: \(expected)
              observed: \(observed)
              because:  \(clause.intent)
              at:       \(clause.file):\(line)
              trace:
            \(steps.joined(separator: "\n"))
            """
    }
}
