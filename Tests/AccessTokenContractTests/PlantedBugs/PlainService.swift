import AccessTokenContract
import Dispatch
import Foundation

/// A service that keeps the contract, written as plainly as can be and without anything of this package's engines, so
/// that one bug at a time can be planted in it.
final class PlainService: AccessTokenProviding {
    private struct Waiter {
        let id: Int
        let handler: AccessTokenHandler
    }

    private struct Flight {
        let id: Int
        let replacing: AccessToken?
        let isBehind: Bool
        var waiters: [Waiter] = []
    }

    private struct State {
        var token: AccessToken?
        var leeway = 0.0
        var rejected: AccessToken?
        var flight: Flight?
        var isSignedOut = false
        var session = 0
        var lastID = 0
        var answeredLoads: Set<Int> = []
    }

    private let bug: PlantedBug?
    private let fixture: ContractFixture
    private let state = Locked(State())

    init(_ fixture: ContractFixture, bug: PlantedBug?) {
        self.fixture = fixture
        self.bug = bug
    }

    var currentToken: AccessToken? {
        state.withLock { state in isUsable(state) ? state.token : nil }
    }

    @discardableResult
    @available(*, renamed: "token()")
    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        var start: Flight?
        var answer: Result<AccessToken, any Error>?
        var waiter: Waiter?
        state.withLock { state in
            if state.isSignedOut, bug != .loadsAfterSignOut {
                answer = .failure(AccessTokenError.signedOut)
            } else if isUsable(state), let token = state.token, bug != .neverCaches {
                let isAhead = isInWindow(state)
                if isAhead, bug == .failsAtOnceInWindow { return }
                answer = .success(token)
                if isAhead, state.flight == nil || bug == .renewsForEachCall {
                    start = newFlight(&state, isBehind: true)
                }
            } else {
                let new = Waiter(id: nextID(&state), handler: handler)
                waiter = new
                if state.flight == nil || bug == .joinersLoad { start = newFlight(&state, isBehind: false) }
                if bug == .registersAfterLoading, start != nil { return }
                state.flight?.waiters.append(new)
            }
        }
        if let answer { deliver([handler], answer) }
        if let start { load(start) }
        if bug == .registersAfterLoading, start != nil, let waiter {
            state.withLock { $0.flight?.waiters.append(waiter) }
        }
        guard let waiter else { return .answered }
        return AccessTokenRetrieval { [self] in cancel(waiter) }
    }

    func invalidate(_ rejected: AccessToken) {
        state.withLock { state in
            guard bug != .ignoresInvalidation else { return }
            if bug == .invalidationDropsTheFlight { state.flight = nil }
            guard state.token == rejected || bug == .blanketInvalidation else { return }
            state.rejected = state.token
            state.token = nil
        }
    }

    func signIn(_ token: AccessToken) {
        let waiters = state.withLock { state in
            defer {
                state.isSignedOut = false
                if bug != .signInUndoneByLateAnswer { state.session += 1 }
                adopt(token, in: &state)
                state.flight = nil
            }
            return state.flight?.waiters ?? []
        }
        deliver(waiters.map(\.handler), .success(token))
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        let waiters = state.withLock { state in
            defer {
                state.isSignedOut = true
                if bug != .signOutUndoneByLateAnswer { state.session += 1 }
                state.token = nil
                state.rejected = nil
                if bug != .signOutForgetsWaiters { state.flight = nil }
            }
            return bug == .signOutForgetsWaiters ? [] : state.flight?.waiters ?? []
        }
        deliver(waiters.map(\.handler), .failure(AccessTokenError.signedOut))
        fixture.loader.signOut(then: done)
    }

    private func cancel(_ waiter: Waiter) {
        let left = state.withLock { state -> [Waiter] in
            guard let index = state.flight?.waiters.firstIndex(where: { $0.id == waiter.id }) else { return [] }
            switch bug {
            case .cancelledWaiterWaits:
                return []
            case .cancelledWaiterFailsAll:
                defer { state.flight?.waiters = [] }
                return state.flight?.waiters ?? []
            case .cancelledWaiterStays:
                return [waiter]
            default:
                state.flight?.waiters.remove(at: index)
                if bug == .lastOneOutCancelsTheLoad, let flight = state.flight, flight.waiters.isEmpty {
                    state.answeredLoads.insert(flight.id)
                    state.flight = nil
                }
                return [waiter]
            }
        }
        deliver(left.map(\.handler), .failure(CancellationError()))
    }

    // MARK: The load

    private func load(_ flight: Flight) {
        let session = state.withLock { $0.session }
        if let deadline = fixture.policy.loadDeadline, bug != .noDeadline {
            _ = fixture.clock.schedule(after: deadline) { [self] in timeOut(flight) }
        }
        if bug == .weakSelf {
            fixture.loader.load(replacing: flight.replacing) { [weak self] in self?.loaded(flight, session, $0) }
        } else {
            fixture.loader.load(replacing: flight.replacing) { [self] in loaded(flight, session, $0) }
        }
    }

    private func loaded(_ flight: Flight, _ session: Int, _ result: Result<AccessToken, any Error>) {
        if bug == .answersBeforeTheStateChanges, let waiters = state.withLock({ $0.flight?.waiters }) {
            for waiter in waiters { waiter.handler(result) }
        }
        var result = result
        let waiters = state.withLock { state -> [Waiter] in
            if bug == .clearsNewerFlights, state.flight?.id != flight.id { state.flight = nil }
            guard session == state.session else { return [] }
            guard bug == .takesEveryAnswer || state.answeredLoads.insert(flight.id).inserted else { return [] }
            if bug == .signOutUndoneByLateAnswer { state.isSignedOut = false }
            let isOwner = state.flight?.id == flight.id
            switch result {
            case .success(let token):
                guard
                    isOwner || bug == .signInUndoneByLateAnswer || bug == .takesEveryAnswer
                        || state.flight == nil && state.token == nil
                else { return [] }
                if isOwner || bug != .dropsLateAnswers { adopt(token, in: &state) }
            case .failure:
                if bug == .failureDropsTheToken { state.token = nil }
                if bug == .replacesErrors { result = .failure(AccessTokenError.signedOut) }
            }
            guard isOwner else { return [] }
            let waiters = state.flight?.waiters ?? []
            if case .failure = result, bug == .failuresStick {
                state.flight?.waiters = []
            } else {
                state.flight = nil
            }
            if case .failure = result, bug == .onlyTheLeaderFails { return Array(waiters.prefix(1)) }
            return waiters
        }
        guard bug != .answersBeforeTheStateChanges else { return }
        deliver((bug == .lastInFirstOut ? waiters.reversed() : waiters).map(\.handler), result)
    }

    private func timeOut(_ flight: Flight) {
        let waiters = state.withLock { state -> [Waiter] in
            guard state.flight?.id == flight.id else { return [] }
            defer {
                if bug == .deadlineKeepsTheSlot {
                    state.flight?.waiters = []
                } else if bug != .timedOutWaitersStay {
                    state.flight = nil
                }
            }
            return state.flight?.waiters ?? []
        }
        deliver(waiters.map(\.handler), .failure(AccessTokenError.loadTimedOut))
    }

    // MARK: Times, and delivery

    private func adopt(_ token: AccessToken, in state: inout State) {
        state.token = token
        let life = token.expiration?.timeIntervalSince(fixture.clock.now) ?? 0
        state.leeway = bug == .leewayTakesAll ? fixture.policy.leeway : min(fixture.policy.leeway, life / 2)
        if bug == .ignoresLeeway { state.leeway = 0 }
    }

    private func isUsable(_ state: State) -> Bool {
        guard let token = state.token else { return false }
        guard let expiration = token.expiration else { return bug != .unknownExpirationIsExpired }
        let end = expiration.addingTimeInterval(-state.leeway)
        return bug == .expiresOneInstantLate ? fixture.clock.now <= end : fixture.clock.now < end
    }

    private func isInWindow(_ state: State) -> Bool {
        guard let expiration = state.token?.expiration, fixture.policy.refreshAhead > 0 else { return false }
        return fixture.clock.now >= expiration.addingTimeInterval(-state.leeway - fixture.policy.refreshAhead)
    }

    private func newFlight(_ state: inout State, isBehind: Bool) -> Flight {
        let flight = Flight(id: nextID(&state), replacing: state.token ?? state.rejected, isBehind: isBehind)
        if let waiting = state.flight?.waiters, bug == .joinersLoad || bug == .renewsForEachCall {
            state.flight = flight
            state.flight?.waiters = waiting
        } else {
            state.flight = flight
        }
        return flight
    }

    private func nextID(_ state: inout State) -> Int {
        state.lastID += 1
        return state.lastID
    }

    private func deliver(_ handlers: [AccessTokenHandler], _ result: Result<AccessToken, any Error>) {
        switch bug {
        case .answersInsideTheCall, .answersOnTheLoadersThread:
            for handler in handlers { handler(result) }
        default:
            fixture.queue.async { for handler in handlers { handler(result) } }
        }
    }
}
