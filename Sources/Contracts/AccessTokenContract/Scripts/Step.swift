/// One thing that happens to a service in a ``Script``.
///
/// References are relative, such as ``Load/newest`` and ``Token/current``: a script stays meaningful when steps are
/// left out.
public enum Step: Hashable, Sendable {
    /// A caller calls, and does something when it is answered; `refresh` demands a new token.
    case retrieve(refresh: Bool, isCancelled: Bool, then: Reaction?)
    /// Four callers call on as many threads at the same moment; each may reject the current token first.
    case crowd(rejecting: Bool)
    /// A caller is cancelled.
    case cancel(Caller)
    /// A load answers.
    case answer(Answer, from: Load)
    /// The newest load answers a new token, while callers come on four threads until the token was handed out.
    case answerAmidCalls
    /// The load that answered last answers once more.
    case again(Answer)
    /// A server has rejected a token.
    case reject(Token)
    /// A session begins with a token.
    case signIn(NewToken)
    /// The session ends.
    case signOut
    /// One of these changes, and a call of the same task or thread right after it, before anything settles.
    case callRightAfter(Change)
    /// Time passes.
    case pass(Time)
    /// Nobody holds the service any more; only the answers of its loads come after this.
    case drop
    /// The loader changes its ways.
    case loader(Habit)

    /// A caller calls.
    public static let call = Step.retrieve(refresh: false, isCancelled: false, then: nil)
    /// A caller demands a new token.
    public static let refresh = Step.retrieve(refresh: true, isCancelled: false, then: nil)
    /// A task that is cancelled already calls.
    public static let cancelledCall = Step.retrieve(refresh: false, isCancelled: true, then: nil)

    /// A caller calls, and does something when it is answered.
    public static func call(then reaction: Reaction) -> Step {
        .retrieve(refresh: false, isCancelled: false, then: reaction)
    }

    /// A caller demands a new token, and does something when it is answered.
    public static func refresh(then reaction: Reaction) -> Step {
        .retrieve(refresh: true, isCancelled: false, then: reaction)
    }

    /// The newest load answers.
    public static func answer(_ answer: Answer) -> Step { .answer(answer, from: .newest) }
}

extension Step: CustomStringConvertible {
    /// The step in a form that can be pasted into code.
    public var description: String {
        switch self {
        case .cancelledCall: ".cancelledCall"
        case .retrieve(let refresh, true, let reaction):
            ".retrieve(refresh: \(refresh), isCancelled: true, then: \(reaction.map { ".\($0)" } ?? "nil"))"
        case .retrieve(let refresh, _, let reaction):
            (refresh ? ".refresh" : ".call") + (reaction.map { "(then: .\($0))" } ?? "")
        case .crowd(let rejecting): ".crowd(rejecting: \(rejecting))"
        case .cancel(let caller): ".cancel(.\(caller))"
        case .answer(let answer, .newest): ".answer(.\(answer))"
        case .answer(let answer, let load): ".answer(.\(answer), from: .\(load))"
        case .answerAmidCalls: ".answerAmidCalls"
        case .again(let answer): ".again(.\(answer))"
        case .reject(let token): ".reject(.\(token))"
        case .signIn(let token): ".signIn(.\(token))"
        case .signOut: ".signOut"
        case .callRightAfter(let change): ".callRightAfter(.\(change))"
        case .pass(let time): ".pass(.\(time))"
        case .drop: ".drop"
        case .loader(let habit): ".loader(.\(habit))"
        }
    }
}
