import AccessTokenGCD

/// Waits for the callers of a round, and for no more than a time: a caller who is never answered is what
/// a broken service leaves behind, and it must not keep the tour from saying so.
final class RollCall: Sendable {
    /// How a round went for its callers.
    struct Outcome: Hashable, Sendable {
        var served = 0
        /// Callers who had heard nothing when the round was closed.
        var unanswered: Int
        /// Why callers were not served, and how many of them.
        var reasons: [String: Int] = [:]

        static func += (one: inout Outcome, other: Outcome) {
            one.served += other.served
            one.unanswered += other.unanswered
            one.reasons.merge(other.reasons, uniquingKeysWith: +)
        }
    }

    private struct State {
        var outcome: Outcome
        var handler: (@Sendable (Outcome) -> Void)?
    }

    private let state: Locked<State>

    /// - Parameters:
    ///   - count: of callers, at least one.
    ///   - handler: is called once, when all have answered or the roll is closed.
    init(of count: Int, then handler: @escaping @Sendable (Outcome) -> Void) {
        state = Locked(State(outcome: Outcome(unanswered: count), handler: handler))
    }

    /// A caller has come to an end.
    func answer(_ end: CallEnd) {
        finish { outcome in
            outcome.unanswered -= 1
            switch end {
            case .served: outcome.served += 1
            case .unserved(let reason): outcome.reasons[reason, default: 0] += 1
            }
            return outcome.unanswered == 0
        }
    }

    /// Waits no longer; what is answered later does not count.
    func close() {
        finish { _ in true }
    }

    private func finish(_ isLast: (inout Outcome) -> Bool) {
        let call: (handler: @Sendable (Outcome) -> Void, outcome: Outcome)? = state.withLock { state in
            guard let handler = state.handler, isLast(&state.outcome) else { return nil }
            state.handler = nil
            return (handler, state.outcome)
        }
        call.map { call in call.handler(call.outcome) }
    }
}
