import AccessTokenCore
import AccessTokenOAuth
import ConsoleSupport
import Foundation
import LoopbackAuthorizationServer

/// The authorization server of one set-up, and the session of its user.
///
/// After a lost session the user signs in again.
final class TourServer: Sendable {
    /// Seconds that a token request takes at least, as with a server that signs tokens and stores them.
    static let latency = 0.02

    let endpoint: TokenEndpoint
    let resource: URL
    private let server: RotatingAuthorizationServer
    private let family = Locked<Int?>(nil)

    /// - Throws: `SocketError` if the system refuses a socket.
    init(recorder: RoundRecorder, latency: TimeInterval = TourServer.latency) throws {
        server = try RotatingAuthorizationServer(latency: latency) { event in
            event.step.map(recorder.record)
        }
        endpoint = TokenEndpoint(
            server.tokenEndpoint,
            authentication: .none(clientID: RotatingAuthorizationServer.clientID)
        )
        resource = server.resource
    }

    /// The name of an access token, to be shown instead of its value.
    func name(of accessToken: String) -> String {
        server.name(of: accessToken)?.description ?? "unknown"
    }

    /// Begins a round with an expired access token.
    ///
    /// Signs the user in first if there is no session.
    ///
    /// - Parameter signIn: stores the pair where the set-up keeps its credential.
    func beginRound(_ signIn: (AccessToken, _ refreshToken: String) async throws -> Void) async throws {
        if family.withLock({ $0 }).map(server.isRevoked) ?? true {
            let pair = server.signIn()
            let expiration = Date(timeIntervalSinceNow: TimeInterval(pair.lifetime))
            try await signIn(AccessToken(value: pair.accessToken, expiration: expiration), pair.refreshToken)
            family.withLock { $0 = pair.accessName.family }
        }
        server.expireAccessTokens()
    }

    var tally: AuthorizationServerTally { server.tally }

    func stop() { server.stop() }
}

extension AuthorizationServerEvent {
    /// What the diagram shows of the token endpoint.
    ///
    /// The callers record the resource's side.
    fileprivate var step: SequenceDiagram.Content? {
        switch self {
        case .tokenRequested(let name):
            .request(from: .service, to: .server, "POST /token, \(name?.description ?? "unknown")")
        case .tokenIssued(let access, let refresh):
            .answer(from: .server, to: .service, "200 \(access), \(refresh)")
        case .reuseDetected(let name):
            .note(.server, "\(name) is used again")
        case .familyRevoked:
            .note(.server, "revokes all tokens")
        case .tokenRefused(let code):
            .answer(from: .server, to: .service, "400 \(code)")
        case .requestRejected(let status):
            .note(.server, "rejected: \(status)")
        case .resourceRequested, .resourceServed, .resourceRefused:
            nil
        }
    }
}
