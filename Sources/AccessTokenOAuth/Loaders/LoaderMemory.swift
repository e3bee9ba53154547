import AccessTokenCore
import Foundation

/// What an OAuth loader knows beyond the store, until the store knows it or it is worthless.
struct LoaderMemory: Sendable {
    /// A credential that the server issued and the store has not taken yet.
    struct Unsaved: Sendable {
        let credential: Credential
        /// The version that it takes the place of: in the place of a newer one it would do harm.
        let base: Int?
    }

    /// A refresh token that was sent and not answered yet.
    struct Outstanding: Sendable {
        let number: Int
        let refreshToken: String
        let exchange: OutstandingExchange<TokenReply>
        let start: Date
    }

    var unsaved: Unsaved?
    var outstanding: Outstanding?
    /// The last refresh token that the server refused, in case that it could not be removed.
    var refused: String?
    /// How many refresh tokens were sent.
    var exchanges = 0

    /// Forgets a session; numbers go on, so that a late reply is not taken for that of the next one.
    mutating func forget() {
        self = LoaderMemory(exchanges: exchanges)
    }
}
