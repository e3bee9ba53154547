public import AccessTokenAsync
import AccessTokenCore
public import AccessTokenGCD
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
/// **Concurrency** A refresh token is sent by one load at a time, in all processes that share the store; for how long the
/// others wait is told by <doc:Distribution>. Loaders of one store object, and of stores of one folder or keychain item,
/// share what they know in a process. Loaders of a store that is a `struct` do not.
///
/// **Cancellation** None: exchange and write are seen through, also if the calling task is cancelled.
///
/// **Failure** ``OAuthError``; `AccessTokenError.signedOut` if there is nothing to exchange; what the store throws. After
/// ``OAuthError/timedOut`` the exchange goes on, and the next load adopts what it brought. A refresh token that the server
/// refuses is removed, and is not sent again. A credential that could not be saved is kept in memory and saved before
/// anything else; until then no caller gets its access token.
public final class OAuthLoader: AsyncAccessTokenLoader {
    let endpoint: TokenEndpoint
    let store: any CredentialStore
    let grant: TokenGrant?
    let leeway: TimeInterval
    let onUnheardError: (@Sendable (any Error) -> Void)?
    let memory: SharedLoaderMemory

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - endpoint: where refresh tokens are exchanged.
    ///   - store: where the credential is; empty means signed out.
    ///   - grant: what to exchange when there is no refresh token, such as the client's own credentials; `nil` means
    ///     that the user has to sign in. It must be one that can be sent any number of times.
    ///   - leeway: seconds before its expiration from which on a token in the store is not adopted.
    ///   - onUnheardError: told of failures that no caller hears of: at sign-out, after a caller's deadline, when a refusal
    ///     cannot be written down, and the lost reply that came before a refusal.
    public init(
        endpoint: TokenEndpoint,
        store: any CredentialStore,
        grant: TokenGrant? = nil,
        leeway: TimeInterval = 30,
        onUnheardError: (@Sendable (any Error) -> Void)? = nil
    ) {
        self.endpoint = endpoint
        self.store = store
        memory = .of(store)
        self.grant = grant
        self.leeway = leeway
        self.onUnheardError = onUnheardError
    }

    /// Stores a credential as that of a session, in place of the present one if there is one.
    ///
    /// A service that lives on from an earlier session must be told as well: `signIn(_:to:)` does both. If you do not use
    /// that, wait first until the service's sign-out has returned, which would take this session for the one that ends.
    /// A load of this process is waited for, up to the endpoint's deadline; one of another process, as long as the store waits.
    ///
    /// **Failure** What the store throws; the session has not begun then.
    public func signIn(_ credential: Credential) async throws {
        try await Task {
            try await self.updateSession { _ in .replace(credential) }
            // The rest of the memory tells sessions apart by token, and a load of this one may be running.
            self.memory.withLock { memory in
                if memory.refused == credential.refreshToken { memory.refused = nil }
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
        try await signIn(credential, after: service.signOuts)
        // After the store: a load of the service finds the new credential there.
        if let accessToken = credential.accessToken {
            await service.signIn(accessToken)
        } else {
            await service.signIn()
        }
    }

    /// Begins a session in the store and in a queue service, as in an async one; callback code calls it in a `Task`.
    public func signIn(_ credential: Credential, to service: AccessTokenService) async throws {
        try await signIn(credential, after: service.signOuts)
        if let accessToken = credential.accessToken { service.signIn(accessToken) } else { service.signIn() }
    }

    private func signIn(_ credential: Credential, after signOuts: PendingWork) async throws {
        // Not inside of a load, for which a sign-out waits.
        if LoadContext.running == nil {
            await withCheckedContinuation { continuation in signOuts.whenOver { continuation.resume() } }
        }
        try await signIn(credential)
    }

    /// Ends the session: removes the credential, then revokes it if the endpoint has a `revocationURL` (RFC 7009).
    ///
    /// A load of this process that is running is waited for: what it brings is removed and revoked as well. That and
    /// the revocation may each take the endpoint's deadline. A user interface need not wait for them; the next `signIn(_:)` must.
    ///
    /// **Failure** Is told to `onUnheardError`: without a network the user is signed out here all the same. A credential
    /// that cannot be removed is revoked at least. One that cannot be read is removed without that, or it could come back; what
    /// is in a folder that others can use is left there.
    public func signOut() async {
        await Task { await self.forget() }.value
    }
}

extension OAuthLoader: CustomStringConvertible, CustomReflectable {
    /// Where the loader exchanges; never a secret.
    public var description: String { "OAuthLoader(\(endpoint))" }

    /// A mirror without store and memory: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["endpoint": endpoint], displayStyle: .class) }
}
