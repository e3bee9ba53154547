/// A part of the contract that a whole history can be judged by.
///
/// Rules are about sums, and about what must have come before, rather than about pairs of events: what a service
/// decides may come later than the call that asked for it.
struct Rule: Sendable {
    let clauses: [String]
    /// What a service must do.
    let text: String
    /// What is wrong with a history, if something is.
    let objection: @Sendable (History) -> String?

    init(_ clauses: String..., must text: String, objection: @escaping @Sendable (History) -> String?) {
        self.clauses = clauses
        self.text = text
        self.objection = objection
    }
}

/// What a history is found guilty of.
struct BrokenRule: Error, CustomStringConvertible {
    let rule: Rule
    let objection: String
    let history: History

    var description: String {
        "a service must \(rule.text) (\(rule.clauses.joined(separator: ", "))), but \(objection):\n\(history)"
    }
}

extension History {
    /// The first rule that the history breaks.
    var brokenRule: BrokenRule? {
        Rule.all.lazy.compactMap { rule in
            rule.objection(self).map { BrokenRule(rule: rule, objection: $0, history: self) }
        }.first
    }
}
