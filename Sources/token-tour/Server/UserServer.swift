import AccessTokenAsync
import AccessTokenCore
import AccessTokenOAuth
import Foundation

/// A server of the user's own: there is one session on it, nobody else's log to read, and no way to sign in again.
struct UserServer: TourServer {
    let endpoint: TokenEndpoint
    let resource: URL
    private let held: HeldCredential
    private let log: ClientLog
    /// Whether to ask once more at the end: a naive set-up can have lost its session without having been told.
    private let asksAtTheEnd: Bool

    init(_ options: ServerOptions, held: HeldCredential, for name: SetUpName, recorder: RoundRecorder) {
        endpoint = options.endpoint
        resource = options.resource
        self.held = held
        log = ClientLog(path: options.endpoint.url.path(), recorder: recorder)
        asksAtTheEnd = !name.isOurs
    }

    var store: any CredentialStore { held }

    func counting(_ loader: any AsyncAccessTokenLoader) -> any AsyncAccessTokenLoader {
        CountingLoader(base: loader, held: held, log: log)
    }

    func name(of accessToken: String) -> String { log.name(of: accessToken) }

    /// Nobody here can let a token run out before its time, so the service is told that it was rejected.
    func beginRound(of subject: Subject) async throws -> Bool {
        guard let credential = try await held.load()?.credential else { return false }
        if let token = log.newest {
            await subject.invalidate(token)
        } else {
            // The refresh token only: the set-up before may have left an access token, which would spare a load.
            try await subject.signIn(Credential(refreshToken: credential.refreshToken, scope: credential.scope))
        }
        return true
    }

    func tally() async -> ServerTally {
        if asksAtTheEnd { _ = try? await NaiveTokenLoader(endpoint: endpoint, store: held).load(replacing: log.newest) }
        let isSignedIn = (try? await held.load()) != nil
        return ServerTally(loads: log.loads, reuses: log.refusals, signIns: 1, sessionsLost: isSignedIn ? 0 : 1)
    }

    func stop() {}
}
