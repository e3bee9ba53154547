import AccessTokenCore
import AccessTokenGCD
import AccessTokenSynchronization
import Foundation

extension BuggyService {
    func load(_ load: Load) {
        if bug == .sourceBelongsToTheFirstCaller, state.withLock({ $0.isFirstCancelled }) {
            return finish(load, .failure(CancellationError()))
        }
        let hasDeadline =
            bug != .noDeadline && !(bug == .noDeadlineAhead && load.isAhead)
            && !(bug == .noDeadlineForced && load.isForced)
            && !(bug == .noDeadlineInASecondSession && load.session > 0)
        if let deadline = policy.loadDeadline, hasDeadline {
            effect { [self] in
                let timer = clock.schedule(after: deadline) { [self] in timeOut(load) }
                state.withLock { $0.deadline = (load.id, timer) }
            }
        }
        let isLocked = bug == .loadsUnderALock || bug == .loadsAheadUnderALock && load.isAhead
        if isLocked { wrongLock.lock() }
        if bug == .weakSelf {
            loader.load(replacing: load.replacing) { [weak self] in self?.finish(load, $0) }
        } else {
            loader.load(replacing: load.replacing) { [self] in finish(load, $0) }
        }
        if isLocked { wrongLock.unlock() }
    }

    func endDeadline(of load: Int?) {
        guard bug != .timerOutlivesItsLoad else { return }
        effect { [self] in
            let timer = state.withLock { state -> AccessTokenTimer? in
                guard bug == .effectsOutOfOrder || state.deadline?.load == load else { return nil }
                return state.deadline.take()?.timer
            }
            timer?.cancel()
        }
    }

    private func effect(_ body: @escaping @Sendable () -> Void) {
        if bug == .effectsOutOfOrder { later(body) } else { body() }
    }

    private func finish(_ load: Load, _ result: Result<AccessToken, any Error>) {
        if bug == .loadsUnderALock || bug == .loadsAheadUnderALock { wrongLock.withLock {} }
        answerTooEarly(load, result)
        endDeadline(of: load.id)
        var isRepeated = false
        var again: Load?
        decide { state in
            if bug == .clearsNewerLoads, state.load?.id != load.id { state.load = nil }
            let ignoresSession =
                state.timedOut.contains(load.id)
                && (state.isSignedOut ? bug == .lateAnswerIgnoresSignOut : bug == .lateAnswerIgnoresSignIn)
            if ignoresSession, case .success(let token) = result {
                state.isSignedOut = false
                adopt(token, in: &state)
                return nil
            }
            guard load.session == state.session else { return late(load, result, in: &state) }
            isRepeated = !state.answeredLoads.insert(load.id).inserted
            if isRepeated, bug == .repeatedAnswerReachesTheNextLoad { return endLoad(&state, with: result) }
            guard !isRepeated || bug == .takesEveryAnswer else { return nil }
            if bug == .signOutUndoneByLateAnswer { state.isSignedOut = false }
            let isCurrent = state.load?.id == load.id
            let isLate = state.timedOut.contains(load.id)
            if isLate, !isCurrent, state.load != nil {
                switch result {
                case .success where bug == .lateTokenClearsNewerLoad:
                    let waiters = state.load?.waiters ?? []
                    state.load = nil
                    return (waiters, result)
                case .failure where bug == .lateFailureFailsNewerWaiters:
                    let waiters = state.load?.waiters ?? []
                    state.load?.waiters = []
                    return (waiters, result)
                default: break
                }
            }
            switch result {
            case .success(let token):
                let isWanted = isCurrent || state.load == nil && state.tokenLoad < load.id
                let replacesNewer =
                    bug == .signInUndoneByLateAnswer || bug == .takesEveryAnswer
                    || bug == .lateForcedTokenReplacesNewer && load.isForced
                guard isWanted || replacesNewer else { return nil }
                // A late token that has expired is worth nothing.
                let hasExpired = token.expiration.map { $0 <= clock.now } ?? false
                if !isCurrent, hasExpired { return nil }
                if bug == .loadsAgainForExpiredTokens, hasExpired {
                    again = newLoad(&state)
                    return nil
                }
                let isDropped =
                    !isCurrent && bug == .dropsLateAnswers
                    || state.load?.waiters.isEmpty == true && bug == .dropsWhatNobodyAwaits
                if isDropped || load.isForced && bug == .forcedTokenIsNotCached { break }
                let isEndless =
                    bug == .aheadTokenNeverExpires && load.isAhead || bug == .forcedTokenNeverExpires && load.isForced
                    || bug == .lateTokenNeverExpires && isLate
                adopt(isEndless ? AccessToken(value: token.value) : token, in: &state)
                state.tokenLoad = load.id
            case .failure(let error):
                if bug == .refusalOutlivesItsSession, isRefusal(error) { state.refusal = error }
                if bug == .failureDropsTheToken { state.token = nil }
                if bug == .failureForcedDropsToken, load.isForced, isCurrent { state.token = nil }
                state.failures += 1
            }
            return isCurrent ? endLoad(&state, with: result) : nil
        }
        if let again { self.load(again) }
        if case .failure = result, !isRepeated { loadAgain(after: load) }
        if isRepeated, bug != .swallowsRepeatedAnswers {
            onEvent(.init(.ignoredRepeatedAnswer, load: load.id))
        }
    }

    /// What comes of the answer to a load whose session is over: nothing, but for these bugs.
    private func late(_ load: Load, _ result: Result<AccessToken, any Error>, in state: inout State) -> Answer? {
        switch result {
        case .success(let token) where bug == .signOutUndoneByALoadAhead && load.isAhead && state.isSignedOut:
            state.isSignedOut = false
            adopt(token, in: &state)
        case .failure where bug == .signInUndoneByLateFailure:
            state.token = nil
        case .failure(let error)
        where bug == .refusedRefreshEndsTheNextSession && isRefusal(error) && (load.isAhead || load.isForced):
            state.token = nil
        case .success(let token)
        where bug == .repeatedAnswerReplacesSignedInToken && state.answeredLoads.contains(load.id) && !state.isSignedOut:
            adopt(token, in: &state)
        default: break
        }
        return nil
    }

    private func loadAgain(after load: Load) {
        let again = state.withLock { state -> Load? in
            switch bug {
            case .loadsAgainAfterFailure where load.session == state.session && state.load == nil: newLoad(&state)
            case .failuresServeOneWaiter where state.load?.id == load.id: newLoad(&state)
            case .triesAgainAfterSignOut where load.session != state.session && state.isSignedOut:
                Load(id: load.id, session: state.session, replacing: nil)
            default: nil
            }
        }
        if let again { self.load(again) }
    }

    private func answerTooEarly(_ load: Load, _ result: Result<AccessToken, any Error>) {
        guard state.withLock({ $0.load?.id == load.id }) else { return }
        let isError = if case .failure = result { true } else { false }
        let isUnderALock = bug == (isError ? .answersErrorsUnderALock : .answersTokensUnderALock)
        guard isUnderALock || bug == .answersBeforeTheStateChanges else { return }
        let waiters = state.withLock { state in
            defer { state.load?.waiters = [] }
            return state.load?.waiters ?? []
        }
        if isUnderALock { wrongLock.lock() }
        for waiter in waiters { waiter.handler(result) }
        if isUnderALock { wrongLock.unlock() }
    }

    private func endLoad(_ state: inout State, with result: Result<AccessToken, any Error>) -> Answer {
        let load = state.load
        let waiters = load?.waiters ?? []
        guard case .failure(let error) = result else {
            if bug == .endedLoadAnswersOn { state.delivered = state.token }
            state.load = nil
            switch bug {
            case .lastInFirstOut: return (waiters.reversed(), result)
            case .answersSixteen: return (Array(waiters.prefix(16)), result)
            default: return (waiters, result)
            }
        }
        switch bug {
        case .forcedWaitersStayAtFailure where load?.isForced == true:
            state.load = nil
            return ([], result)
        case .failureAheadAfterExpirySticks where load?.isAhead == true && !waiters.isEmpty:
            state.load?.waiters = []
        case .secondFailureSticks where state.failures > 1:
            state.load?.waiters = []
        case .cancelledLoadAheadStays where load?.isAhead == true && error is CancellationError:
            return ([], result)
        case .failuresStick:
            state.load?.waiters = []
        case .failureForgetsWaitersLate:
            later { [self] in self.state.withLock { $0.load = nil } }
        case .failuresServeOneWaiter where waiters.count > 1:
            return ([state.load?.waiters.removeFirst()].compactMap(\.self), result)
        case .cancelledLoadStays where error is CancellationError:
            return ([], result)
        default:
            state.load = nil
        }
        let isSilent =
            bug == .loadAheadFailsInSilence || bug == .refusedLoadAheadFailsInSilence && isRefusal(error)
        if isSilent, load?.isAhead == true { return ([], result) }
        return (
            bug == .onlyTheFirstWaiterFails ? Array(waiters.prefix(1)) : waiters,
            bug == .replacesErrors ? .failure(AccessTokenError.signedOut) : result
        )
    }

    func timeOut(_ load: Load) {
        decide(.deadline) { state in
            let isStray =
                bug == .timerOutlivesItsLoad || bug == .timerOutlivesItsSession && load.session != state.session
            guard state.load?.id == load.id || isStray else { return nil }
            let waiters = state.load?.waiters ?? []
            state.timedOut.insert(load.id)
            if bug == .timeOutAheadDropsToken, load.isAhead { state.token = nil }
            if bug == .timeOutForcedDropsToken, load.isForced { state.token = nil }
            if bug == .timeOutForgetsRejection, state.token == nil { state.token = state.rejected }
            switch bug {
            case .forcedWaitersStayAtDeadline where load.isForced:
                state.load = nil
                return ([], .failure(AccessTokenError.loadTimedOut))
            case .timedOutLoadStays: state.load?.waiters = []
            case .timedOutWaitersStay: break
            default: state.load = nil
            }
            let error: any Error =
                bug == .deadlineIsACancellation ? CancellationError() : AccessTokenError.loadTimedOut
            return (waiters, .failure(error))
        }
    }
}
