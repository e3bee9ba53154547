import AccessTokenCore
import AccessTokenSynchronization
import Foundation
import OAuthFoundation

/// What the redirect of a ``LoopbackLogin`` brought, and the call that waits for it.
final class LoopbackAnswer: Sendable {
    typealias Outcome = Result<TokenGrant, any Error>

    private enum State: Sendable {
        /// Nobody has waited yet.
        case expected
        /// A call waits, or has waited: without a waiter, the call has ended by its time limit or its cancellation.
        case awaited
        case answered(Outcome)
    }

    private let waiters = TimedWaiters<State, Outcome>(.expected)
    /// Whether somebody has called for the grant, which is given once.
    private let isAsked = Locked(false)
    /// It is made of the port, so that the listener is there before it.
    private let login = Locked<AuthorizationCodeLogin?>(nil)

    func expect(_ login: AuthorizationCodeLogin) { self.login.withLock { $0 = login } }

    /// Whether this is the first call for the grant.
    func ask() -> Bool {
        isAsked.withLock { isAsked in
            defer { isAsked = true }
            return !isAsked
        }
    }

    /// Whether the redirect has come.
    var isThere: Bool { waiters.withLock { state, _ in if case .answered = state { true } else { false } } }

    /// Waits for the redirect.
    func outcome(within limit: TimeInterval, by clock: any AccessTokenClock) async -> Outcome {
        let outcome = await waiters.outcome(
            atMost: limit,
            by: clock,
            timedOut: .failure(LoginError.nobodyCameBack),
            cancelled: .failure(CancellationError())
        ) { state in
            if case .answered(let outcome) = state { return outcome }
            state = .awaited
            return nil
        }
        waiters.withLock { state, _ in
            // A call that was cancelled before has not even begun to wait.
            if case .expected = state { state = .awaited }
        }
        return outcome
    }

    func respond(to request: HTTPRequest?) -> HTTPResponse {
        guard let request, request.method == "GET", let login = login.withLock({ $0 }) else {
            return .empty(404)
        }
        let outcome: Outcome
        do throws(LoginError) {
            outcome = .success(try login.grant(fromTarget: request.path, request.query))
        } catch {
            // Another page of the browser, or another program: the user is still on the way.
            guard error != .foreignRedirect, error != .wrongState, error != .alreadyAnswered else {
                return .empty(404)
            }
            outcome = .failure(error)
        }
        let waiting = waiters.withLock { state, waiters -> [TimedWaiters<State, Outcome>.Waiter]? in
            if case .awaited = state, waiters.isEmpty { return nil }
            state = .answered(outcome)
            defer { waiters = [] }
            return waiters
        }
        guard let waiting else { return LoginPages.tooLate }
        for waiter in waiting { waiter.end(with: outcome) }
        return LoginPages.closing(outcome)
    }
}
