package import AccessTokenCore
package import AccessTokenGCD
package import AccessTokenSynchronization
import Dispatch
import Foundation

/// A small service that keeps the contract, in which one ``Bug`` at a time can be planted.
///
/// It shares no code with the engines of this package: a lock, an array of waiters, and a load with a number.
package final class BuggyService: AccessTokenProviding {
    struct Waiter {
        let id: Int
        let handler: AccessTokenHandler
    }

    struct Load {
        let id: Int
        let session: Int
        let replacing: AccessToken?
        /// It was started beside an answer from the cache.
        var isAhead = false
        var isForced = false
        var waiters: [Waiter] = []
    }

    /// What waiters are told.
    typealias Answer = (waiters: [Waiter], result: Result<AccessToken, any Error>)

    struct State {
        var token: AccessToken?
        /// The load that brought the token.
        var tokenLoad = 0
        /// The token that handlers are being called with, which one bug hands out until the last of them is called.
        var delivered: AccessToken?
        var leeway = 0.0
        var rejected: AccessToken?
        /// The rejections since the last load began; eight of them are too many for one bug.
        var rejections = 0
        var load: Load?
        var isSignedOut = false
        var session = 0
        var lastLoad = 0
        var timedOut: Set<Int> = []
        var failures = 0
        /// What the server has refused for good, which one bug tells all later callers that need a load.
        var refusal: (any Error)?
        var lastWaiter = 0
        /// The first waiter was cancelled, with which one bug loses its source.
        var isFirstCancelled = false
        var answeredLoads: Set<Int> = []
        /// The waiters that a cancellation finds.
        var cancellable: Set<Int> = []
        var deadline: (load: Int, timer: AccessTokenTimer)?
    }

    let loader: any AccessTokenLoader
    let policy: AccessTokenPolicy
    let clock: any AccessTokenClock
    private let handlerQueue: any SerialQueue
    let onEvent: @Sendable (AccessTokenEvent) -> Void
    let isRefusal: @Sendable (any Error) -> Bool
    let later: @Sendable (@escaping @Sendable () -> Void) -> Void
    let bug: Bug?
    let state = Locked(State())
    /// What one bug holds where no lock should be held; a `Mutex` would trap where this one blocks.
    let wrongLock = NSLock()

    /// - Parameters:
    ///   - token: what the app stored when it last ran.
    ///   - isRefusal: whether a loader's error says that the server refuses the credential for good.
    ///   - later: runs a block a moment later, in any order with other such blocks.
    package init(
        token: AccessToken? = nil,
        loader: any AccessTokenLoader,
        policy: AccessTokenPolicy,
        clock: any AccessTokenClock,
        handlerQueue: any SerialQueue,
        onEvent: @escaping @Sendable (AccessTokenEvent) -> Void = { _ in },
        isRefusal: @escaping @Sendable (any Error) -> Bool = { _ in false },
        later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { block in
            DispatchQueue.global().async(execute: block)
        },
        bug: Bug?
    ) {
        self.loader = loader
        self.policy = policy
        self.clock = clock
        self.handlerQueue = handlerQueue
        self.onEvent = onEvent
        self.isRefusal = isRefusal
        self.later = later
        self.bug = bug
        guard let token, bug != .forgetsTheStoredToken else { return }
        state.withLock { state in
            adopt(token, in: &state)
            if bug == .storedTokenHasNoLeeway { state.leeway = 0 }
        }
    }

    package var currentToken: AccessToken? {
        state.withLock { state in isUsable(state) || bug == .expiredTokenIsCurrent ? state.token : nil }
    }

    @discardableResult
    @available(*, renamed: "token()")
    package func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        retrieve(forced: false, then: handler)
    }

    /// Loads also while the token is valid, unless a load is running.
    package func refreshToken(then handler: @escaping AccessTokenHandler) {
        retrieve(forced: bug != .refreshAnswersFromTheCache, then: handler)
    }

    package func invalidate(_ rejected: AccessToken) {
        waitForHandlers()
        if bug == .rejectionStopsTheDeadline { endDeadline(of: state.withLock { $0.load?.id }) }
        state.withLock { state in
            guard bug != .ignoresInvalidation else { return }
            if bug == .signedInTokensStay, state.tokenLoad == 0 { return }
            if bug == .invalidationDropsTheLoad { state.load = nil }
            if bug == .manyRejectionsLoadTwice, state.load == nil { state.rejections += 1 }
            if bug == .rejectionAfterSignInIsIgnored, state.session > 1, state.load != nil { return }
            if bug == .secondRejectionIsIgnored, state.rejected != nil { return }
            guard state.token == rejected || bug == .blanketInvalidation else { return }
            state.rejected = state.token
            state.token = nil
        }
    }

    package func signIn(_ token: AccessToken) {
        waitForHandlers()
        decide(.signIn) { state in
            let waiters =
                bug == .signInLeavesForcedWaiters && state.load?.isForced == true ? [] : state.load?.waiters ?? []
            if bug == .signInDuringALoadAheadIsIgnored, state.load?.isAhead == true, isUsable(state) { return nil }
            if bug == .signInOverATokenIsIgnored, isUsable(state) { return nil }
            if bug == .signInAfterAFailureIsIgnored, state.failures > 0, state.load == nil, !state.isSignedOut {
                return nil
            }
            if bug != .signInLeavesSignedOut { state.isSignedOut = false }
            if bug != .signInUndoneByLateAnswer { state.session += 1 }
            adopt(bug == .signInForgetsTheExpiration ? AccessToken(value: token.value) : token, in: &state)
            state.tokenLoad = 0
            let keepsAhead = bug == .newSessionJoinsTheOldLoadAhead && state.load?.isAhead == true
            if bug != .newSessionJoinsTheOldLoad, !keepsAhead { state.load = nil }
            if keepsAhead { state.load?.waiters = [] }
            // An expired token is no answer.
            if !isUsable(state), bug != .signInFailsWaiters, bug != .expiredSignInIsServed {
                return (waiters, signedOut)
            }
            return (waiters, bug == .signInFailsWaiters ? signedOut : .success(token))
        }
    }

    package func signOut(then done: @escaping @Sendable () -> Void) {
        guard bug == .signOutWaitsForTheLoader else { return endSession(then: done) }
        loader.signOut { [self] in endSession(then: done) }
    }

    private func endSession(then done: @escaping @Sendable () -> Void) {
        waitForHandlers()
        endDeadline(of: state.withLock { $0.load?.id })
        decide(.signOut) { state in
            if bug == .secondSignOutSignsIn, state.isSignedOut {
                state.isSignedOut = false
                return nil
            }
            if bug == .secondSignOutIsIgnored, state.session > 1 { return nil }
            let forgets =
                bug == .signOutForgetsWaiters || bug == .signOutLeavesForcedWaiters && state.load?.isForced == true
            let waiters = forgets ? [] : state.load?.waiters ?? []
            state.isSignedOut = bug != .signOutOfNobodyIsIgnored || state.lastLoad > 0
            if bug != .signOutUndoneByLateAnswer { state.session += 1 }
            state.token = nil
            state.rejected = nil
            if bug == .newSessionJoinsTheOldLoad { state.load?.waiters = [] }
            let keepsAhead = bug == .newSessionJoinsTheOldLoadAhead && state.load?.isAhead == true
            if keepsAhead { state.load?.waiters = [] }
            if bug != .signOutForgetsWaiters, bug != .newSessionJoinsTheOldLoad, !keepsAhead { state.load = nil }
            return (waiters, signedOut)
        }
        if bug == .signOutEndsTwice {
            loader.signOut { [self] in
                state.withLock { ($0.isSignedOut, $0.token) = (true, nil) }
                done()
            }
            return
        }
        if bug == .loaderKeepsTheSession || bug == .signOutWaitsForTheLoader {
            done()
        } else {
            loader.signOut(then: done)
        }
    }

    // MARK: Callers

    @discardableResult
    private func retrieve(forced: Bool, then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        let locks: [Bug] = [
            .answersTokensUnderALock, .answersErrorsUnderALock, .locksAtSignOut, .locksAtDeadline, .locksAtCancel,
            .locksAtCache, .locksWhenRefused,
        ]
        if let bug, locks.contains(bug) { wrongLock.withLock {} }
        if bug == .joinerPostponesTheDeadline, let deadline = policy.loadDeadline,
            let load = state.withLock({ $0.load })
        {
            endDeadline(of: load.id)
            let timer = clock.schedule(after: deadline) { [self] in timeOut(load) }
            state.withLock { $0.deadline = (load.id, timer) }
        }
        var sawNoLoad = false
        if bug == .decidesInTwoSteps {
            sawNoLoad = state.withLock { $0.load == nil }
            // As long as it takes to put a request together.
            Thread.sleep(forTimeInterval: 0.000_2)
        }
        var start: Load?
        var lateWaiter: Waiter?
        var id: Int?
        decide(forced ? .refresh : .call) { state in
            state.lastWaiter += 1
            let waiter = Waiter(id: state.lastWaiter, handler: handler)
            let ignoresSignOut = bug == .loadsAfterSignOut || forced && bug == .refreshLoadsAfterSignOut
            if state.isSignedOut, !ignoresSignOut { return ([waiter], signedOut) }
            if !forced, isUsable(state), let token = state.token, bug != .neverCaches {
                let isAhead = isInWindow(state)
                if isAhead, bug == .neverAnswersInWindow { return nil }
                if isAhead, state.load == nil || bug == .refreshesAheadForEachCall {
                    start = newLoad(&state, isAhead: true)
                }
                return ([waiter], .success(token))
            }
            if bug == .expiryEndsTheSession, state.load == nil, hasExpired(state) { return ([waiter], signedOut) }
            if let refusal = state.refusal { return ([waiter], .failure(refusal)) }
            if let delivered = state.delivered { return ([waiter], .success(delivered)) }
            id = waiter.id
            let mustLoad =
                state.load == nil || bug == .joinersLoad || forced && bug == .eachRefreshLoads || state.rejections >= 8
                || forced && bug == .refreshLoadsBesideALoad && state.load?.isForced == false
                || bug == .loadsBesideALoadAhead && state.load?.isAhead == true
                || sawNoLoad || bug == .joinersLoadAfterExpiry && hasExpired(state)
            if state.load != nil { state.rejections = 0 }
            if mustLoad { start = newLoad(&state, isForced: forced) }
            if bug == (mustLoad ? .registersAfterLoading : .registersLate) {
                lateWaiter = waiter
            } else {
                register(waiter, in: &state)
            }
            return nil
        }
        if let start, bug != .neverLoads { load(start) }
        if let late = lateWaiter {
            let join: @Sendable () -> Void = { [self] in state.withLock { register(late, in: &$0) } }
            if bug == .registersLate { later(join) } else { join() }
        }
        guard let id else { return .answered }
        return AccessTokenRetrieval { [self] in cancel(id) }
    }

    private func register(_ waiter: Waiter, in state: inout State) {
        state.load?.waiters.append(waiter)
        if bug == .cancellableLate {
            later { [self] in self.state.withLock { _ = $0.cancellable.insert(waiter.id) } }
        } else {
            state.cancellable.insert(waiter.id)
        }
    }

    private func cancel(_ id: Int) {
        if bug == .cancelStopsTheDeadline { endDeadline(of: state.withLock { $0.load?.id }) }
        decide(.cancel) { state in
            guard state.cancellable.contains(id), bug != .cancelledWaiterWaits,
                let index = state.load?.waiters.firstIndex(where: { $0.id == id }),
                let waiter = state.load?.waiters[index]
            else { return nil }
            if id == 1 { state.isFirstCancelled = true }
            let error: any Error = bug == .cancellationIsSignOut ? AccessTokenError.signedOut : CancellationError()
            if bug == .cancelledWaiterFailsAll {
                defer { state.load?.waiters = [] }
                return (state.load?.waiters ?? [], .failure(error))
            }
            if bug == .cancelOfTheLastTakesTheOneBefore, let count = state.load?.waiters.count, count > 2,
                index == count - 1
            {
                let other = state.load?.waiters[index - 1]
                state.load?.waiters.removeLast(2)
                return ([waiter] + [other].compactMap(\.self), .failure(error))
            }
            if bug != .cancelledWaiterStays { state.load?.waiters.remove(at: index) }
            if let load = state.load, load.waiters.isEmpty,
                bug == .lastOneOutEndsTheLoad || bug == .lastOneOutEndsTheLoadAhead && load.isAhead
            {
                state.answeredLoads.insert(load.id)
                state.load = nil
            }
            return ([waiter], .failure(error))
        }
    }

    private func waitForHandlers() {
        if bug == .changesNeedTheHandlersLock { wrongLock.withLock {} }
    }

    // MARK: Decisions and answers

    enum Cause { case call, refresh, cancel, signIn, signOut, deadline, load }

    /// Decides under the lock, and answers in the order of the decisions.
    func decide(_ cause: Cause = .load, _ decision: (inout State) -> Answer?) {
        let isOff =
            switch bug {
            case .signOutAnswersOffQueue: cause == .signOut
            case .signInAnswersOffQueue: cause == .signIn
            case .deadlineAnswersOffQueue: cause == .deadline
            case .windowAnswersOffQueue: cause == .call && state.withLock { isInWindow($0) }
            case .refusedRefreshOffQueue: cause == .refresh && state.withLock { $0.isSignedOut }
            default: false
            }
        let isLocked =
            switch bug {
            case .locksAtSignOut: cause == .signOut
            case .locksAtDeadline: cause == .deadline
            case .locksAtCancel: cause == .cancel
            case .locksAtCache: cause == .call && !state.withLock { $0.isSignedOut }
            case .locksWhenRefused: cause == .call && state.withLock { $0.isSignedOut }
            default: false
            }
        if isOff || isLocked {
            guard let answer = state.withLock({ decision(&$0) }) else { return }
            let answerAll: @Sendable () -> Void = { [self] in
                if isLocked { wrongLock.lock() }
                for waiter in answer.waiters { waiter.handler(answer.result) }
                if isLocked { wrongLock.unlock() }
            }
            if isOff { DispatchQueue.global().async(execute: answerAll) } else { handlerQueue.enqueue(answerAll) }
            return
        }
        let unanswered = state.withLock { state -> Answer? in
            guard let answer = decision(&state), !answer.waiters.isEmpty else { return nil }
            if bug == .answersInsideTheCall { return answer }
            let handlers = answer.waiters.map(\.handler)
            handlerQueue.enqueue { [self] in
                if bug == .changesNeedTheHandlersLock { wrongLock.lock() }
                for (index, handler) in handlers.enumerated() {
                    // The load is over for the last of them.
                    if bug == .endedLoadAnswersOn, index == handlers.count - 1 {
                        self.state.withLock { $0.delivered = nil }
                    }
                    handler(answer.result)
                }
                if bug == .changesNeedTheHandlersLock { wrongLock.unlock() }
            }
            return nil
        }
        guard let unanswered else { return }
        for waiter in unanswered.waiters { waiter.handler(unanswered.result) }
    }

    private var signedOut: Result<AccessToken, any Error> {
        .failure(bug == .signOutIsACancellation ? CancellationError() : AccessTokenError.signedOut)
    }

    func newLoad(_ state: inout State, isAhead: Bool = false, isForced: Bool = false) -> Load {
        let replaced = bug == .forgetsWhatIsReplaced ? nil : state.token ?? state.rejected
        state.lastLoad += 1
        var load = Load(id: state.lastLoad, session: state.session, replacing: replaced)
        load.isAhead = isAhead
        load.isForced = isForced
        load.waiters = state.load?.waiters ?? []
        state.load = load
        return load
    }

    // MARK: Times

    func adopt(_ token: AccessToken, in state: inout State) {
        state.token = token
        let life = token.expiration?.timeIntervalSince(clock.now) ?? 0
        let leeway = policy.leeway
        state.leeway = bug == .leewayTakesAll ? leeway : min(leeway, life / 2)
        if bug == .ignoresLeeway { state.leeway = 0 }
    }

    private func isUsable(_ state: State) -> Bool {
        guard let token = state.token else { return false }
        guard let expiration = token.expiration else { return bug != .unknownExpirationIsExpired }
        if bug == .ignoresExpiration { return true }
        let end = expiration.addingTimeInterval(-state.leeway)
        let now = clock.now
        return bug == .expiresOneInstantLate ? now <= end : now < end
    }

    private func hasExpired(_ state: State) -> Bool {
        state.token?.expiration.map { $0 <= clock.now } ?? false
    }

    private func isInWindow(_ state: State) -> Bool {
        let window = policy.refreshAhead
        guard let expiration = state.token?.expiration, window > 0 else { return false }
        return clock.now >= expiration.addingTimeInterval(-state.leeway - window)
    }
}
