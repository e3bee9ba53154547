import AccessTokenAdapters
import Foundation

/// What callers do.
extension Specification {
    mutating func call(
        _ number: Int,
        refresh: Bool,
        isCancelled: Bool = false,
        isNested: Bool = false,
        isInsideLoad: Bool = false
    ) {
        var call = Facts.Call(number: number, isForced: refresh, session: facts.session, calledAt: moment)
        call.isCancelled = isCancelled
        call.isNested = isNested
        call.isInsideLoad = isInsideLoad
        switch step {
        case .crowd, .answerAmidCalls: call.isOfCrowd = true
        default: break
        }
        // Inside a handler that was told of a failure, a caller may still join what has just failed.
        if isNested, !isStrict, let failure = facts.justFailed {
            call.mayFail = true
            call.failures = [failure]
        }
        facts.calls[number] = call
        facts.waiting.append(number)
        if facts.tokens.contains(where: { mayBeReplaced($0, facts) }) { facts.mayLoadAhead = true }
        if let token = sure(facts), !isFresh(token, facts), !isCancelled, features.contains(.refreshAhead) {
            facts.mustLoadAhead = true
        }
        if refresh { blame(.forcedCall) }
        facts.end = facts.lack
        changed()
    }

    mutating func cancel(_ number: Int) {
        facts.calls[number]?.isCancelled = true
        blame(.cancellation)
        changed()
    }

    /// A caller's server has rejected this token.
    mutating func reject(_ token: AccessToken) {
        let value = token.value
        let expiration = token.expiration?.timeIntervalSinceReferenceDate
        let sure = sure(facts)
        mayLoad(toReplace: value)
        let isInHandler =
            switch step {
            case .reject, .crowd: false
            default: true
            }
        for index in facts.tokens.indices where facts.tokens[index].value == value {
            let known = facts.tokens[index]
            // Some hold a token that came again with another life for another token.
            guard known.rejectedAt == nil, !known.isOdd || known.expiration == expiration else { continue }
            facts.tokens[index].rejectedAt = moment
            facts.tokens[index].isRejectedWhileGiven = isInHandler && waitedBefore.count > 1
        }
        if sure?.value == value {
            blame(.rejectionOfToken)
            facts.replaced = (value, .i4)
        } else {
            blame(.rejectionOfOtherToken) { $0.value != value }
        }
        let newest = facts.tokens.last { $0.session == facts.session && $0.wasCurrent }
        blame(newest?.value == value ? .rejectionOfNewestToken : .rejectionOfOlderToken)
        changed()
    }

    /// Some load at once when a token is rejected that callers would be given, for those who are to come.
    private mutating func mayLoad(toReplace value: String) {
        let sure = sure(facts)
        if !isStrict, sure == nil || sure?.value == value { facts.mayLoadUnasked = true }
    }

    /// From now on the token is rejected, or from a little later on.
    mutating func beginsToReject(_ value: String) {
        mayLoad(toReplace: value)
        for index in facts.tokens.indices where facts.tokens[index].value == value && facts.tokens[index].sure != nil {
            facts.tokens[index].sure = nil
            blame(.rejectionOfToken)
        }
    }

    /// A caller that was given a token has asked for the current one.
    mutating func found(_ token: AccessToken?, given: String) {
        let isSure = moments.allSatisfy { sure($0)?.value == given } && sure(facts)?.value == given
        guard isSure, token?.value != given else { return }
        let observed = token.map { "it is \(name($0.value))" } ?? "there is none"
        fault(.d9, "the caller to find \(name(given)) as the current token", observed, isHarmless: true)
    }
}
