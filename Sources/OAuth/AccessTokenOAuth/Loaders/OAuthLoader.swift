public import AccessTokenAsync
import AccessTokenCore
public import AccessTokenGCD
import AccessTokenSynchronization
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
/// spent: it stays, and is not sent again until the app decides (``OAuthError/sessionMayBeSpent``). A credential that
/// could not be saved is kept in memory and saved before anything else; until then no caller gets its access token.
public final class OAuthLoader: AsyncAccessTokenLoader {
    let exchange: TokenExchange
    let store: any CredentialStore
    let subject: String?
    let leeway: TimeInterval
    let onUnheardError: (@Sendable (any Error) -> Void)?
    let memory: SharedLoaderMemory

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
        var exchange = TokenExchange(endpoint, parameters: parameters, key: key)
        exchange.constantGrant = grant
        self.init(exchange, store: store, subject: subject, leeway: leeway, onUnheardError: onUnheardError)
    }

    /// Stores a credential as that of a session, in place of the present one if there is one.
    ///
    /// A credential without a subject gets that of the loader.
    ///
    /// A service that lives on from an earlier session must be told as well: `signIn(_:to:)` does both. If you do not
    /// use that, wait first until the service's sign-out has returned, which would take this session for the one that
    /// ends. A load of this process is waited for, up to the endpoint's deadline; one of another process, as long as
    /// the store waits.
    ///
    /// **Failure** What the store throws; the session has not begun then.
    public func signIn(_ credential: Credential) async throws {
        try await Task {
            let credential = credential.released.of(self.subject)
            try await self.updateSession { _ in .replace(credential) }
            // The rest of the memory tells sessions apart by token, and a load of this one may be running.
            self.memory.withLock { memory in
                if memory.refused == credential.refreshToken { memory.refused = nil }
                if memory.held?.refreshToken == credential.refreshToken { memory.held = nil }
                memory.ended = nil
                memory.hasEndedUnread = false
            }
        }.value
    }

    /// Begins a session in the store and in a service of this loader, as at the end of a login.
    ///
    /// The credential may have an access token, or only a refresh token, which the next call of the service exchanges.
    /// For a session of another user, sign out of the service first. A sign-out of the service that has begun is waited
    /// for, and a load as by ``signIn(_:)``.
    ///
    /// **Failure** What the store throws; the service goes on as it was then.
    public func signIn(_ credential: Credential, to service: AsyncAccessTokenService) async throws {
        await sessionsAreForgotten { done in Task { await service.whenForgotten(done) } }
        try await signIn(credential)
        // After the store: a load of the service finds the new credential there.
        if let accessToken = credential.accessToken(for: exchange.key) {
            await service.signIn(accessToken)
        } else {
            await service.signIn()
        }
    }

    /// Begins a session in the store and in a queue service, as in an async one; callback code calls it in a `Task`.
    public func signIn(_ credential: Credential, to service: AccessTokenService) async throws {
        await sessionsAreForgotten { done in service.whenForgotten(done) }
        try await signIn(credential)
        if let accessToken = credential.accessToken(for: exchange.key) {
            service.signIn(accessToken)
        } else {
            service.signIn()
        }
    }

    /// Waits for the sign-outs of a service that are under way, but not inside of a load, for which a sign-out waits.
    private func sessionsAreForgotten(_ whenForgotten: (@escaping @Sendable () -> Void) -> Void) async {
        guard LoadContext.running == nil else { return }
        await withCheckedContinuation { continuation in whenForgotten { continuation.resume() } }
    }

    /// Lets the next load send the refresh token, although the last reply to it could not be read or used.
    ///
    /// After ``OAuthError/sessionMayBeSpent`` the app decides: this, or a login. It is right if the server does not
    /// rotate, or if something else answered in its place, such as the sign-in page of a network. A server that rotates
    /// takes it for theft, and ends the session; then the next load says that the user has to sign in.
    ///
    /// **Failure** What the store throws; nothing has changed then.
    public func sendAgain() async throws {
        try await Task {
            _ = try await self.store.update { record in
                self.memory.withLock { $0.held = nil }
                guard let credential = record?.credential, credential.released != credential,
                    !credential.isOfAnother(than: self.subject)
                else { return .keep }
                return .replace(credential.released)
            }
        }.value
    }

    /// Ends the session: removes the credential, then revokes it if the endpoint has a `revocationURL` (RFC 7009).
    ///
    /// A load of this process that is running is waited for: what it brings is removed and revoked as well. That and
    /// the revocation may each take the endpoint's deadline. A user interface need not wait for them; the next
    /// `signIn(_:)` must.
    ///
    /// **Failure** Is told to `onUnheardError`: without a network the user is signed out here all the same. A
    /// credential that cannot be removed is revoked at least. One that cannot be read is removed without that, or it
    /// could come back; what is in a folder that others can use is left there.
    public func signOut() async {
        await Task { await self.forget() }.value
    }
}

extension OAuthLoader: CustomStringConvertible, CustomReflectable {
    /// Where the loader exchanges; never a secret.
    public var description: String { "OAuthLoader(\(exchange.name))" }

    /// A mirror without store and memory: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["exchange": exchange], displayStyle: .class) }
}
