import AccessTokenCore

/// A few parts that do something at the same time, and what the loader brings: data, to be played on any service.
struct ContractScenario: Sendable, CustomStringConvertible {
    /// What a part does next.
    enum Move: Sendable {
        /// Asks for a token, and goes on when it has its answer.
        case ask
        /// Does nothing for a moment: whatever is to happen may happen meanwhile.
        case wait
        /// Rejects the token that it was told last, if there was one.
        case reject
        case signOut
        case signIn(String)
        /// Lets go of the last reference to the service.
        case drop
    }

    /// What a load comes to; the last one stands for all that follow.
    enum LoadOutcome: Sendable {
        case token
        case failure
        case silence
    }

    let name: String
    let clauses: [String]
    let parts: [[Move]]
    /// The parts that are cancelled at some moment.
    var cancelled: Set<Int> = []
    var loads: [LoadOutcome] = [.token]
    var hasDeadline = false
    /// Whether answers to tasks are effects: what comes after one is then tried after it, and before it.
    var marksAnswers = false

    var description: String { name }

    var policy: AccessTokenPolicy {
        AccessTokenPolicy(leeway: 0, refreshAhead: 0, loadDeadline: hasDeadline ? 60 : nil)
    }

    init(
        _ name: String,
        _ clauses: [String],
        _ parts: [Move]...,
        cancelled: Set<Int> = [],
        loads: [LoadOutcome] = [.token],
        hasDeadline: Bool = false
    ) {
        self.name = name
        self.clauses = clauses
        self.parts = parts
        self.cancelled = cancelled
        self.loads = loads
        self.hasDeadline = hasDeadline
    }

    func outcome(ofLoad number: Int) -> LoadOutcome {
        loads[min(number, loads.count) - 1]
    }
}
