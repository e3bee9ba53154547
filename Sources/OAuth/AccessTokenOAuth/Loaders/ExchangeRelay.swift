import AccessTokenCore
import AccessTokenSynchronization
import Foundation

/// Tells a loader what an endpoint replies to the app's own exchange, which is called by the loader.
///
/// The closure of a ``TokenExchange`` may call ``TokenEndpoint/exchange(_:)``. What that throws has no refresh token in
/// it, and a deadline of the closure's caller ends nothing at the server. So the reply comes here as well.
///
/// It is found by the task that runs the closure: a detached task does not find it.
final class ExchangeRelay: Sendable {
    private struct State {
        var underWay = 0
        /// The last reply that has a refresh token, or the first one.
        var brought: TokenReply?
    }

    @TaskLocal static var current: ExchangeRelay?

    /// Whose refresh token the closure exchanges.
    let credential: Credential
    private let refreshToken: String
    private let queue = TimedWaiters<State, TokenReply?>(State())

    init(of refreshToken: String, in credential: Credential) {
        self.credential = credential
        self.refreshToken = refreshToken
    }

    /// This relay, if the grant sends the loader's refresh token: the closure may exchange something else as well.
    func relaying(_ grant: TokenGrant) -> ExchangeRelay? { grant.refreshToken == refreshToken ? self : nil }

    func begin() { queue.withLock { state, _ in state.underWay += 1 } }

    /// `nil` if nothing was sent.
    func end(with reply: TokenReply?) {
        let (waiters, brought) = queue.withLock { state, waiters in
            state.underWay -= 1
            if let reply, state.brought == nil || reply.refreshToken != nil { state.brought = reply }
            guard state.underWay == 0 else { return ([TimedWaiters<State, TokenReply?>.Waiter](), state.brought) }
            defer { waiters = [] }
            return (waiters, state.brought)
        }
        for waiter in waiters { waiter.end(with: brought) }
    }

    /// What the server has said, when no request is under way any more; `nil` if no endpoint was asked.
    func reply(by clock: any AccessTokenClock) async -> TokenReply? {
        await queue.outcome(atMost: nil, by: clock, timedOut: nil) { state in
            state.underWay == 0 ? .some(state.brought) : nil
        }
    }

    /// The response of the closure, with the refresh token that the closure has not handed on.
    func completing(_ response: TokenResponse) -> TokenResponse {
        guard response.refreshToken == nil, let brought = queue.withLock({ state, _ in state.brought?.refreshToken })
        else { return response }
        return response.withRefreshToken(brought)
    }
}

extension TokenReply {
    /// The refresh token that came, with a usable access token or without one.
    fileprivate var refreshToken: String? { (try? result.get())?.refreshToken ?? rescuedRefreshToken }

    /// What the app's own exchange threw, although an endpoint has brought something.
    init(thrown error: any Error, despite brought: TokenReply?) {
        // The closure did not wait for the reply, which is there now.
        if let brought, case .success = brought.result, error as? OAuthError == .timedOut {
            self = brought
            return
        }
        // As itself it would say that the loader's own store has failed, and that nothing was sent.
        let unknown = (error as? CredentialStoreError)
            .map { OAuthError.connectionLost(code: URLError.Code.unknown.rawValue, system: $0.description) }
        self.init(thrown: unknown ?? error)
        rescuedRefreshToken = brought?.refreshToken
    }
}
