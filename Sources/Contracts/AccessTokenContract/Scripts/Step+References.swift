extension Step {
    /// What a caller does inside its handler, or in its task, when it is answered.
    public enum Reaction: Hashable, Sendable, CaseIterable {
        /// It calls again.
        case call
        /// It demands a new token.
        case refresh
        /// It rejects the token that it was given, or the last one that anybody was given.
        case reject
        /// It rejects that token and calls again.
        case rejectAndCall
        /// It ends the session.
        case signOut
        /// It begins a session.
        case signIn
        /// It asks for the current token.
        case currentToken
    }

    /// A caller of an earlier step.
    public enum Caller: Hashable, Sendable {
        /// The one that has waited longest.
        case first
        /// The one that came last, if several wait.
        case last
        /// One that has its answer.
        case answered
    }

    /// What a load answers.
    public enum Answer: Hashable, Sendable, CaseIterable {
        /// A new token that lives for an hour.
        case token
        /// An error that is worth another try.
        case failure
        /// An error for good: the server refuses the credential.
        case permanentFailure
        /// `CancellationError`, though nobody has cancelled the load.
        case cancellation
        /// A new token without expiration.
        case endlessToken
        /// A new token that has expired.
        case expiredToken
        /// The token that was handed out last, with a new life of an hour.
        case sameToken
        /// That token, unchanged.
        case identicalToken
        /// A new token that lives for ten seconds, which is shorter than the leeway.
        case shortToken
    }

    /// A load that has not answered.
    public enum Load: Hashable, Sendable {
        /// The one that began last.
        case newest
        /// The one that began first.
        case oldest
    }

    /// A token that was handed out.
    public enum Token: Hashable, Sendable {
        /// The last one.
        case current
        /// The one before that.
        case former
    }

    /// What a caller does right before its call.
    public enum Change: Hashable, Sendable, CaseIterable {
        /// It ends the session.
        case signOut
        /// It begins a session with a token that lives for an hour.
        case signIn
        /// It rejects the token that was handed out last.
        case reject
    }

    /// The token of a session that begins.
    public enum NewToken: Hashable, Sendable, CaseIterable {
        /// It lives for an hour.
        case valid
        /// It has expired.
        case expired
    }

    /// How much time passes.
    public enum Time: Hashable, Sendable, CaseIterable {
        /// Less than the deadline of a load, or a second more.
        case fourSeconds, sixSeconds, nineSeconds, elevenSeconds
        /// Until 200 seconds before the token counts as expired, in the refresh-ahead window.
        case freshness
        /// Until 20 seconds before the token expires, in the leeway.
        case leeway
        /// Until 400 seconds after the token has expired.
        case life
        /// Until half a second before the token counts as expired.
        case beforeEnd
        /// Until the instant at which the token counts as expired.
        case end
        /// Somebody sets the clock back by twelve days.
        case back
    }

    /// What the loader does from now on.
    public enum Habit: Hashable, Sendable, CaseIterable {
        /// It goes on when its task is cancelled, because real requests often do.
        case ignoresCancellation
        /// It answers a token before it returns.
        case answersAtOnce
        /// It answers an error before it returns.
        case failsAtOnce
        /// It asks its own service for a token.
        case asksItsService
    }
}

extension Step {
    /// What a subject must have declared for the step.
    var needs: ContractFeatures {
        switch self {
        case .retrieve(let refresh, let isCancelled, let reaction):
            (refresh ? ContractFeatures.forcedRefresh : [])
                .union(isCancelled ? [.cancellation, .asyncCallers] : [])
                .union(reaction?.needs ?? [])
        case .crowd(let rejecting): rejecting ? .invalidation : []
        case .answer(.expiredToken, _): .expiry
        case .answer(.shortToken, _): [.expiry, .leeway]
        case .again: .callbackLoader
        case .reject: .invalidation
        case .signIn(let token): token == .expired ? [.signIn, .expiry] : .signIn
        case .signOut: .signOut
        case .callRightAfter(let change): change.needs
        case .pass(.fourSeconds), .pass(.sixSeconds), .pass(.nineSeconds), .pass(.elevenSeconds): .loadDeadline
        case .pass: .expiry
        case .loader(.asksItsService): .loaderRecognition
        case .cancel, .answer, .answerAmidCalls, .drop, .loader: []
        }
    }

    /// Whether a subject with these features can take the step.
    func isPossible(for features: ContractFeatures) -> Bool {
        switch self {
        case .cancel: !features.isDisjoint(with: [.cancellation, .asyncCallers])
        case .answer(.endlessToken, _): !features.contains(.tokensAlwaysExpire)
        case .loader(.ignoresCancellation): !features.contains(.callbackLoader)
        default: features.isSuperset(of: needs)
        }
    }

    /// Whether services with this policy have the time that passes.
    func makesSense(with policy: AccessTokenPolicy) -> Bool {
        switch self {
        case .pass(.fourSeconds), .pass(.sixSeconds), .pass(.nineSeconds), .pass(.elevenSeconds):
            policy.loadDeadline != nil
        case .pass(.freshness): policy.refreshAhead > 0
        case .pass(.leeway): policy.leeway > 0
        default: true
        }
    }

    var isCancellation: Bool {
        switch self {
        case .cancel, .retrieve(_, true, _): true
        default: false
        }
    }

    var isSecondAnswer: Bool { if case .again = self { true } else { false } }
}

extension Step.NewToken {
    /// What a subject must have declared to be made with the token.
    var needsAtStart: ContractFeatures { self == .expired ? [.initialToken, .expiry] : .initialToken }
}

extension Step.Change {
    fileprivate var needs: ContractFeatures {
        switch self {
        case .signOut: .signOut
        case .signIn: .signIn
        case .reject: .invalidation
        }
    }
}

extension Step.Reaction {
    fileprivate var needs: ContractFeatures {
        switch self {
        case .call: []
        case .refresh: .forcedRefresh
        case .reject, .rejectAndCall: .invalidation
        case .signOut: .signOut
        case .signIn: .signIn
        case .currentToken: .currentToken
        }
    }
}
