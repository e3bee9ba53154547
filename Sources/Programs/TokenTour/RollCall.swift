import AccessTokenCore
import Dispatch

/// Waits for the answers to the callers of a round, up to a time limit.
///
/// A broken service may never answer some callers, and the tour must still report that.
final class RollCall: Sendable {
    /// Seconds after which a round is closed: more than two loads and two requests may take, deadlines included.
    static let limit = 180.0

    /// How a round, or several rounds, went for the callers.
    struct Outcome: Hashable, Sendable, Codable {
        var served = 0
        /// Callers that had no answer when the round was closed.
        var unanswered = 0
        /// Why callers were not served, with the number of callers for each reason.
        var reasons: [String: Int] = [:]

        var count: Int { served + unanswered + reasons.values.reduce(0, +) }

        static func += (one: inout Outcome, other: Outcome) {
            one.served += other.served
            one.unanswered += other.unanswered
            one.reasons.merge(other.reasons, uniquingKeysWith: +)
        }
    }

    private let state: Locked<(outcome: Outcome, handler: (@Sendable (Outcome) -> Void)?)>

    /// - Parameters:
    ///   - count: the number of callers, at least one.
    ///   - handler: called once, when all callers are answered or the roll is closed.
    init(of count: Int, then handler: @escaping @Sendable (Outcome) -> Void) {
        state = Locked((Outcome(unanswered: count), handler))
    }

    /// Lets all callers call at the same moment, and waits until all are answered, but no longer than so many seconds.
    static func outcome(of callers: [any Caller], within limit: Double = limit) async -> Outcome {
        await withCheckedContinuation { continuation in
            let roll = RollCall(of: callers.count) { continuation.resume(returning: $0) }
            // Inactive until all callers are enqueued: they call at the same moment.
            let line = DispatchQueue(label: "token-tour.callers", attributes: [.concurrent, .initiallyInactive])
            for caller in callers {
                line.async { caller.call { roll.answer($0) } }
            }
            line.activate()
            DispatchQueue.global().asyncAfter(deadline: .now() + limit) { roll.close() }
        }
    }

    /// A call has ended.
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

    /// Stops waiting: later answers do not count.
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
