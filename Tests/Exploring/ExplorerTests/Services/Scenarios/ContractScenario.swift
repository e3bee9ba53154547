import AccessTokenCore
import Foundation

/// A few parts that do something at the same time, and what the loader brings: data, to be played on any service.
struct ContractScenario: Sendable {
    /// What a part does next.
    enum Move: Sendable {
        /// Asks for a token, and goes on when it has its answer.
        case ask
        /// Does nothing for a moment: whatever is to happen may happen meanwhile.
        case wait
        /// Does nothing until a load is wanted ahead of the token's expiration.
        case rest
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
    /// Tokens expire, and are replaced ahead of that.
    var refreshesAhead = false

    /// The seconds of a token's life, of which more than half are over after a rest.
    static let (life, rest): (TimeInterval, TimeInterval) = (1000, 600)

    var policy: AccessTokenPolicy {
        AccessTokenPolicy(
            leeway: 0,
            refreshAhead: refreshesAhead ? Self.life / 2 : 0,
            loadDeadline: hasDeadline ? 60 : nil
        )
    }

    init(
        _ name: String,
        _ clauses: [String],
        _ parts: [Move]...,
        cancelled: Set<Int> = [],
        loads: [LoadOutcome] = [.token],
        hasDeadline: Bool = false,
        refreshesAhead: Bool = false
    ) {
        self.name = name
        self.clauses = clauses
        self.parts = parts
        self.cancelled = cancelled
        self.loads = loads
        self.hasDeadline = hasDeadline
        self.refreshesAhead = refreshesAhead
    }

    func outcome(ofLoad number: Int) -> LoadOutcome {
        loads[min(number, loads.count) - 1]
    }
}

extension ContractScenario: CustomStringConvertible {
    var description: String { name }
}
