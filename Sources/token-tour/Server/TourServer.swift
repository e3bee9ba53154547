import AccessTokenAsync
import AccessTokenOAuth
import Foundation

/// The server that a set-up meets, and what the tour can do there.
protocol TourServer: Sendable {
    var endpoint: TokenEndpoint { get }
    /// What an access token is for.
    var resource: URL { get }
    /// Where the set-up keeps its credential.
    var store: any CredentialStore { get }

    /// The set-up's loader, and around it what is needed to count its requests, if the server does not.
    func counting(_ loader: any AsyncAccessTokenLoader) -> any AsyncAccessTokenLoader

    /// What to print instead of the value of an access token.
    func name(of accessToken: String) -> String

    /// Sees to it that there is a session and no access token that is any good.
    ///
    /// - Returns: whether there is a session; the round is over before it began if there is none.
    func beginRound(of subject: Subject) async throws -> Bool

    /// What has happened by the end of the last round.
    func tally() async -> ServerTally

    func stop()
}
