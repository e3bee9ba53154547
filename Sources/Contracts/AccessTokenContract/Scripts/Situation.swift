/// A kind of step, and what the service is in the middle of when the step is taken.
///
/// Two scripts that meet in the same situation try the same there: how many there were says how much was looked at.
struct Situation: Hashable, Sendable {
    private enum Cached: Hashable { case none, ageing, fresh }

    private let step: String
    private let isSignedIn: Bool
    private let isFirstSession: Bool
    private let cached: Cached
    private let loads: [String]
    private let hasFormerLoad: Bool
    private let hasLateLoad: Bool
    private let waiters: Int

    init(_ step: Step, _ specification: Specification) {
        let facts = specification.facts
        self.step = step.kind
        isSignedIn = facts.isSignedIn
        isFirstSession = facts.session == 1
        cached = specification.sure(facts).map { specification.isFresh($0, facts) ? .fresh : .ageing } ?? .none
        loads = facts.running.map { $0.isForced ? "forced" : $0.isAhead ? "ahead" : "awaited" }
        hasFormerLoad = !facts.formerLoads.isEmpty
        hasLateLoad = facts.loads.contains { $0.isTimedOut && !$0.hasEnded }
        waiters = min(2, facts.waiting.count)
    }
}

extension Step {
    fileprivate var kind: String {
        switch self {
        case .retrieve(_, true, _): "cancelled call"
        case .retrieve(let refresh, _, _): refresh ? "refresh" : "call"
        case .crowd: "crowd"
        case .cancel: "cancel"
        case .answer(let answer, _): "\(answer)"
        case .again: "again"
        case .reject: "reject"
        case .signIn: "sign-in"
        case .signOut: "sign-out"
        case .pass: "pass"
        case .drop: "drop"
        case .loader: "loader"
        }
    }
}
