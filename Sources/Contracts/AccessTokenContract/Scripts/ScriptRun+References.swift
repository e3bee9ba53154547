import AccessTokenAdapters
import Foundation

/// What the relative references of steps refer to at present.
extension ScriptRun {
    func load(_ which: Step.Load) -> ControlledLoad? {
        which == .newest ? run.openLoads.last : run.openLoads.first
    }

    func caller(_ which: Step.Caller) -> Int? {
        state.withLock { state in
            let facts = state.specification.facts
            let waiting = facts.waiting.filter { number in
                guard let call = facts.calls[number] else { return false }
                return !call.isCancelled && !call.isInsideLoad && !(call.isForced && !canCancelRefreshes)
            }
            return switch which {
            case .first: waiting.first
            case .last: waiting.count > 1 ? waiting.last : nil
            case .answered: facts.calls.keys.filter { !facts.waiting.contains($0) }.max()
            }
        }
    }

    /// What cancels a forced refresh of a service with handlers is not in the subject's closure.
    private var canCancelRefreshes: Bool { if case .task = service?.refresh { true } else { false } }

    func token(_ which: Step.Token) -> AccessToken? {
        state.withLock { state in which == .current ? state.tokens.last : state.tokens.dropLast().last }
    }

    func seconds(_ time: Step.Time) -> Double? {
        let facts = state.withLock { $0.specification.facts }
        let last = facts.tokens.last { $0.session == facts.session && $0.expiration != nil }
        let policy = run.fixture.policy
        let left = last?.expiration.map { $0 - facts.now }
        switch time {
        case .fourSeconds: return 4
        case .sixSeconds: return 6
        case .nineSeconds: return 9
        case .elevenSeconds: return 11
        case .freshness: return policy.refreshAhead > 0 ? left.map { $0 - policy.leeway - 200 } : nil
        case .leeway: return policy.leeway > 0 ? left.map { $0 - 20 } : nil
        // A token without expiration is kept. A day is enough: a service may have a timer that fires every few seconds.
        case .life: return left.map { $0 + 400 } ?? (facts.tokens.isEmpty ? nil : 86_400)
        case .beforeEnd: return last.map { $0.usableUntil - facts.now - 0.5 }
        case .end: return last.map { $0.usableUntil - facts.now }
        case .back: return -1e6
        }
    }

    /// Whether the step makes sense now for this subject.
    func accepts(_ step: Step) -> Bool {
        guard step.isPossible(for: features) else { return false }
        let (isDropped, lastAnswered) = state.withLock { ($0.specification.facts.isDropped, $0.lastAnswered) }
        if isDropped {
            guard case .answer = step else { return false }
        }
        switch step {
        case .crowd(rejecting: true): return token(.current) != nil
        case .cancel(let which): return caller(which) != nil
        case .answer(.sameToken, let which), .answer(.identicalToken, let which):
            return load(which) != nil && token(.current) != nil
        case .answer(_, let which): return load(which) != nil
        case .answerAmidCalls: return isAwaitedLoadNewest
        case .again: return lastAnswered != nil
        case .reject(.current), .callRightAfter(.reject): return token(.current) != nil
        case .reject(.former): return token(.former).map { $0.value != token(.current)?.value } ?? false
        case .pass(let time): return seconds(time).map { $0 > 0 || time == .back } ?? false
        default: return true
        }
    }

    /// The newest load answers for the present session, and not too late.
    private var isAwaitedLoadNewest: Bool {
        guard let number = load(.newest)?.number else { return false }
        return state.withLock { state in
            let facts = state.specification.facts
            return facts.isSignedIn && !facts.mayBeOver
                && facts.running.contains { $0.number == number && !$0.mayBeOfFormerSession }
        }
    }

    func situation(of step: Step) -> Situation { state.withLock { Situation(step, $0.specification) } }

    // MARK: New tokens and errors

    func result(of load: ControlledLoad, _ answer: Step.Answer) -> (LoadResult, name: String) {
        let name = (answer == .expiredToken ? "expired T" : "T") + "\(load.number)"
        func new(life: Double?) -> (LoadResult, name: String) { (.success(run.token(name, life: life)), name) }
        func known(_ change: (AccessToken) -> AccessToken) -> (LoadResult, name: String) {
            guard let last = token(.current) else { return new(life: 3600) }
            return (.success(change(last)), log.name(last))
        }
        switch answer {
        case .token: return new(life: 3600)
        case .endlessToken: return new(life: nil)
        case .expiredToken: return new(life: -1)
        case .shortToken: return new(life: 10)
        case .sameToken:
            let end = run.fixture.clock.now.addingTimeInterval(3600)
            return known { AccessToken(value: $0.value, expiration: end) }
        case .identicalToken: return known { $0 }
        case .failure: return (.failure(ContractLoadError(number: load.number)), name)
        case .permanentFailure: return (.failure(ContractLoadError(number: load.number, kind: .permanent)), name)
        case .cancellation: return (.failure(CancellationError()), name)
        }
    }

    func newSession(_ kind: Step.NewToken) -> (AccessToken, name: String) {
        let number = state.withLock { state in
            state.sessions += 1
            return state.sessions
        }
        let name = (kind == .expired ? "expired S" : "S") + "\(number)"
        let token = run.token(name, life: kind == .expired ? -1 : 3600)
        state.withLock { $0.tokens.append(token) }
        return (token, name)
    }
}
