import AccessTokenAsync
import AccessTokenCore
import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer

/// The tour's own server, a new one for each set-up: it says what happened, and a user who was signed out signs in again.
final class BuiltInServer: TourServer {
    /// Seconds that a token request takes, as with a server that signs tokens and writes them down.
    private static let latency = 0.02

    let endpoint: TokenEndpoint
    let store: any CredentialStore = MemoryCredentialStore()
    private let server: RotatingAuthorizationServer
    private let family = Locked<Int?>(nil)

    /// - Throws: `SocketError` if there is no server to be had.
    init(recorder: RoundRecorder) throws {
        server = try RotatingAuthorizationServer(latency: Self.latency) { event in
            event.steps.forEach(recorder.record)
        }
        endpoint = TokenEndpoint(
            server.tokenEndpoint,
            authentication: .none(clientID: RotatingAuthorizationServer.clientID)
        )
    }

    var resource: URL { server.resource }

    func counting(_ loader: any AsyncAccessTokenLoader) -> any AsyncAccessTokenLoader { loader }

    func name(of accessToken: String) -> String {
        server.name(of: accessToken)?.description ?? "unknown"
    }

    /// A user signs in, if that is needed: server, loader and service all start with the same pair.
    func beginRound(of subject: Subject) async throws -> Bool {
        if family.withLock({ $0 }).map(server.isRevoked) ?? true {
            let pair = server.signIn()
            let expiration = Date(timeIntervalSinceNow: TimeInterval(pair.lifetime))
            try await subject.signIn(
                Credential(
                    accessToken: AccessToken(value: pair.accessToken, expiration: expiration),
                    refreshToken: pair.refreshToken
                )
            )
            family.withLock { $0 = pair.accessName.family }
        }
        server.expireAccessTokens()
        return true
    }

    func tally() async -> ServerTally {
        let tally = server.tally
        return ServerTally(
            loads: tally.tokenRequests,
            reuses: tally.reuses,
            signIns: tally.signIns,
            sessionsLost: tally.revokedFamilies
        )
    }

    func stop() { server.stop() }
}
