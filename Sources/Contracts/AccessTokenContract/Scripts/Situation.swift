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

extension Script {
    /// What happens in the script beside calls and loads that bring a token.
    var uncommonKinds: Set<String> { Set(steps.compactMap(\.uncommonKind)) }
}

extension Step {
    fileprivate var uncommonKind: String? {
        switch self {
        case .retrieve(_, _, let reaction?): "\(reaction)"
        case .retrieve(_, true, _), .cancel: "cancel"
        case .retrieve(true, _, _): "refresh"
        case .retrieve, .answer(.token, _): nil
        case .crowd(let rejecting): rejecting ? "reject" : nil
        case .reject, .callRightAfter(.reject): "reject"
        case .signIn, .callRightAfter(.signIn): "signIn"
        case .signOut, .callRightAfter(.signOut): "signOut"
        case .answer(.failure, _), .answer(.permanentFailure, _), .answer(.cancellation, _): "failure"
        case .pass(.fourSeconds), .pass(.sixSeconds), .pass(.nineSeconds), .pass(.elevenSeconds): "deadline"
        case .pass: "time"
        default: kind
        }
    }

    fileprivate var kind: String {
        switch self {
        case .retrieve(_, true, _): "cancelled call"
        case .retrieve(let refresh, _, _): refresh ? "refresh" : "call"
        case .crowd: "crowd"
        case .cancel: "cancel"
        case .answer(let answer, let load): "\(answer) from \(load)"
        case .answerAmidCalls: "amid calls"
        case .again: "again"
        case .reject(let token): "reject \(token)"
        case .signIn(let token): "sign-in with \(token)"
        case .signOut: "sign-out"
        case .pass(let time): "pass \(time)"
        case .callRightAfter(let change): "call right after \(change)"
        case .drop: "drop"
        case .loader: "loader"
        }
    }
}
