public import AccessTokenAsync
import AccessTokenCore
public import Foundation

/// Loads access tokens by the refresh token that is in a credential store, and keeps there what the server rotates.
///
/// Each load is one exclusive transaction on the store: read again, adopt a valid token that another process was faster
/// to obtain, else exchange the refresh token, and **write what came before anyone sees the access token**.
///
/// ```swift
/// let loader = OAuthLoader(endpoint: endpoint, store: store)
/// let service = AsyncAccessTokenService(loader: RetryingLoader(loader))
/// ```
///
/// **Concurrency** A refresh token is sent by one load at a time, in all processes that share the store; for how long
/// the others wait is told by <doc:Distribution>. Loaders of one store object, and of stores of one folder or keychain
/// item, share what they know in a process. Loaders of a store that is a `struct` do not.
///
/// **Cancellation** Of a load that waits for its turn at the endpoint: `CancellationError`. Exchange and write are seen
/// through, also if the calling task is cancelled.
///
/// **Failure** ``OAuthError``; `AccessTokenError.signedOut` if there is nothing to exchange; what the store throws.
/// After ``OAuthError/timedOut`` the exchange goes on, and the next load adopts what it brought. A refresh token that
/// the server refuses is removed, and is not sent again. After a reply that cannot be read, the refresh token may be
/// spent: it stays, and is not sent again until the app decides (``OAuthError/sessionMayBeSpent``). What the
/// store does not take, a credential or a sign-out, is kept in memory until the store takes it, and written before
/// anything else; until then no caller gets the access token. The loader tries again by itself.
public final class OAuthLoader: AsyncAccessTokenLoader {
    let exchange: TokenExchange
    let store: any CredentialStore
    let subject: String?
    let leeway: TimeInterval
    let onUnheardError: (@Sendable (any Error) -> Void)?
    let memory: SharedLoaderMemory

    /// `nil` without keys: a server may have a loader for each of its users.
    let ownProofs: TokenProofs?

    /// The proofs for requests with the tokens of this loader, if they are bound to a key (DPoP, RFC 9449).
    ///
    /// Give it to each session whose service has this loader.
    public var proofs: TokenProofs { ownProofs ?? TokenProofs(of: store, nil, clock: exchange.clock) }

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - exchange: how credentials are renewed.
    ///   - store: where the credential is; empty means signed out.
    ///   - subject: whose credential it loads with. A credential of another ``Credential/subject`` is left alone: a
    ///     load answers `AccessTokenError.signedOut`, and a sign-out ends nothing. `nil` takes whatever is in the
    ///     store.
    ///   - leeway: seconds before its expiration from which on a token in the store is not adopted.
    ///   - onUnheardError: told of failures that no caller hears of: at sign-out, after a caller's deadline, when a
    ///     refusal cannot be written down, and the lost reply or the server's failure (5xx) that came before a refusal.
    public init(
        _ exchange: TokenExchange,
        store: any CredentialStore,
        subject: String? = nil,
        leeway: TimeInterval = 30,
        onUnheardError: (@Sendable (any Error) -> Void)? = nil
    ) {
        self.exchange = exchange
        self.store = store
        memory = .of(store)
        ownProofs = exchange.proofKeys.map { TokenProofs(of: store, $0, clock: exchange.clock) }
        self.subject = subject
        self.leeway = leeway
        self.onUnheardError = onUnheardError
    }

    /// Creates a loader that renews at a token endpoint.
    ///
    /// - Parameters:
    ///   - endpoint: where refresh tokens are exchanged.
    ///   - store: where the credential is; empty means signed out.
    ///   - grant: what to exchange when there is no refresh token, such as the client's own credentials; `nil` means
    ///     that the user has to sign in. It must be one that can be sent any number of times; ``TokenExchange`` makes
    ///     others.
    ///   - parameters: go with each refresh token, such as `resource` (RFC 8707): see ``TokenExchange``.
    ///   - key: under which the access token is kept: see ``TokenExchange``.
    ///   - subject: whose credential it loads with; `nil` takes whatever is in the store.
    ///   - leeway: seconds before its expiration from which on a token in the store is not adopted.
    ///   - onUnheardError: told of failures that no caller hears of.
    public convenience init(
        endpoint: TokenEndpoint,
        store: any CredentialStore,
        grant: TokenGrant? = nil,
        parameters: KeyValuePairs<String, String> = [:],
        key: String? = nil,
        subject: String? = nil,
        leeway: TimeInterval = 30,
        onUnheardError: (@Sendable (any Error) -> Void)? = nil
    ) {
        let exchange = TokenExchange(endpoint, parameters: parameters, key: key, constantGrant: grant)
        self.init(exchange, store: store, subject: subject, leeway: leeway, onUnheardError: onUnheardError)
    }
}

extension OAuthLoader: CustomStringConvertible, CustomReflectable {
    /// Where the loader exchanges; never a secret.
    public var description: String { "OAuthLoader(\(exchange.name))" }

    /// A mirror without store and memory: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["exchange": exchange], displayStyle: .class) }
}
