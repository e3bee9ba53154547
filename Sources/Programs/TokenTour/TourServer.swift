import AccessTokenCore
import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation
import LoopbackAuthorizationServer

/// The authorization server of one set-up, and the session of its user.
///
/// After a lost session the user signs in again.
final class TourServer: Sendable {
    let endpoint: TokenEndpoint
    let resource: URL
    private let server: RotatingAuthorizationServer
    /// How many token requests it takes in a round; `nil` is no limit.
    let limit: Int?
    private let family = Locked<Int?>(nil)
    private let log = EventLog()

    /// - Throws: `SocketError` if the system refuses a socket.
    init(latency: TimeInterval, limit: Int?) throws {
        self.limit = limit
        server = try RotatingAuthorizationServer(latency: latency) { [log] event in
            log.events.withLock { $0.append(event) }
        }
        endpoint = TokenEndpoint(
            server.tokenEndpoint,
            authentication: .none(clientID: RotatingAuthorizationServer.clientID)
        )
        resource = server.resource
    }

    /// Begins a round with an expired access token.
    ///
    /// Signs the user in first if there is no session.
    ///
    /// - Parameters:
    ///   - store: where the set-up keeps its credential.
    ///   - signIn: gives the set-up the first token of a session.
    func beginRound(_ store: any CredentialStore, _ signIn: (AccessToken) async -> Void) async throws {
        if family.withLock({ $0 }).map(server.isRevoked) ?? true {
            let pair = server.signIn()
            let token = AccessToken(
                value: pair.accessToken,
                expiration: Date(timeIntervalSinceNow: TimeInterval(pair.lifetime))
            )
            let credential = Credential(accessToken: token, refreshToken: pair.refreshToken)
            try await store.update { _ in .replace(credential) }
            await signIn(token)
            family.withLock { $0 = pair.accessName.family }
        }
        server.expireAccessTokens()
        // Without a time to wait, which the endpoint's line of requests would keep: the next round has the limit anew.
        server.limitTokenRequests(to: limit, retryAfter: 0)
        log.events.withLock { $0 = [] }
    }

    var tally: AuthorizationServerTally { server.tally }

    /// What the server saw since the round began.
    var events: [AuthorizationServerEvent] { log.events.withLock { $0 } }

    func stop() { server.stop() }
}

/// What a server saw, on many threads.
private final class EventLog: Sendable {
    let events = Locked<[AuthorizationServerEvent]>([])
}
