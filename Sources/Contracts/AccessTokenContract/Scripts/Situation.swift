/// A kind of step, and what the service is in the middle of when the step is taken.
///
/// Two scripts that meet in the same situation try the same there: how many there were says how much was looked at.
struct Situation: Hashable, Sendable {
    private enum Cached: Hashable { case none, ageing, fresh }
    private enum Purpose: Hashable { case awaited, ahead, forced }

    private let step: Step
    private let isSignedIn: Bool
    private let isFirstSession: Bool
    private let cached: Cached
    private let loads: [Purpose]
    private let hasFormerLoad: Bool
    private let hasLateLoad: Bool
    private let waiters: Int

    init(_ step: Step, _ specification: Specification) {
        let facts = specification.facts
        self.step = step.withoutDetails
        isSignedIn = facts.isSignedIn
        isFirstSession = facts.session == 1
        cached = specification.sure(facts).map { specification.isFresh($0, facts) ? .fresh : .ageing } ?? .none
        loads = facts.running.map { $0.isForced ? .forced : $0.isAhead ? .ahead : .awaited }
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
        default: "\(withoutDetails)"
        }
    }

    /// Which of the steps of a kind it is does not matter, as far as this is the same.
    fileprivate var withoutDetails: Step {
        switch self {
        case .retrieve(_, true, _): .cancelledCall
        case .retrieve(let refresh, _, _): refresh ? .refresh : .call
        case .crowd: .crowd(rejecting: false)
        case .cancel: .cancel(.first)
        case .again: .again(.token)
        case .loader: .loader(.answersAtOnce)
        case .answer, .answerAmidCalls, .reject, .signIn, .signOut, .pass, .callRightAfter, .drop: self
        }
    }
}
