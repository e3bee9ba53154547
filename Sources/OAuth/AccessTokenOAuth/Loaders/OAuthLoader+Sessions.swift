public import AccessTokenAsync
import AccessTokenCore
public import AccessTokenGCD
import AccessTokenSynchronization
import Foundation

/// How a session begins, goes on and ends: everything that writes the store without a load.
extension OAuthLoader {
    // MARK: Sign-in

    /// Stores a credential as that of a session, in place of the present one if there is one.
    ///
    /// A credential without a subject gets that of the loader.
    ///
    /// A service that lives on from an earlier session must be told as well: `signIn(_:to:)` does both. Otherwise wait
    /// first until the service's sign-out has returned. A sign-out that is still running would end the new session. A
    /// load of this process is waited for, up to the endpoint's deadline; one of another process, as long as the store
    /// waits.
    ///
    /// **Failure** What the store throws. After an error that may pass, such as a broken connection to a database, the
    /// session may have begun in the store: the store has written, and its answer was lost. Sign in again, or look by
    /// ``storedSession()``. After ``CredentialStoreError/busy`` and after an error that a person has to mend, the session
    /// has not begun.
    public func signIn(_ credential: Credential) async throws {
        try await begin(with: credential) { true }
    }

    /// - Parameter isWanted: asked inside the exclusion: a sign-out that begins later removes what is stored.
    private func begin(with credential: Credential, if isWanted: @escaping @Sendable () -> Bool) async throws {
        try await Task {
            let credential = credential.released.of(self.subject).inSession(.random())
            let session = SessionMark(credential)
            let begins = Locked(true)
            let record = try await self.updateSession { _ in
                let isWanted = isWanted()
                begins.withLock { $0 = isWanted }
                guard isWanted else { return .keep }
                self.memory.withLock { $0.begins(session) }
                return .replace(credential)
            }
            guard begins.withLock({ $0 }) else { return await self.discard(credential) }
            // The rest of the memory tells sessions apart by token, and a load of this one may be running.
            self.memory.withLock { memory in
                memory.forgetEnded(by: record)
                memory.seen = session
                memory.epoch += 1
            }
        }.value
    }

    /// What a login has brought, and is not stored.
    private func discard(_ credential: Credential) async {
        await revoke(credential)
        if let key = credential.proofKey { exchange.proofKeys?.forget(key) }
    }

    /// Begins a session in the store and in a service of this loader, as at the end of a login.
    ///
    /// The credential may have an access token, or only a refresh token, which the next call of the service exchanges.
    /// For a session of another user, sign out of the service first. A sign-out of the service that has begun is waited
    /// for, and a load as by ``signIn(_:)``.
    ///
    /// **Failure** What the store throws; the service goes on as it was then. `AccessTokenError.signedOut` if the
    /// service is signed out while this runs: the sign-out counts, and the credential is revoked.
    public func signIn(_ credential: Credential, to service: AsyncAccessTokenService) async throws {
        let signOuts = await service.signOuts
        await sessionsAreForgotten { done in Task { await service.whenForgotten(done) } }
        try await begin(with: credential) { signOuts == service.publishedSignOuts }
        // After the store: a load of the service finds the new credential there.
        let token = credential.accessToken(for: exchange.key)
        guard await service.signIn(token, since: signOuts) else { throw AccessTokenError.signedOut }
    }

    /// Begins a session in the store and in a queue service, as in an async one; callback code calls it in a `Task`.
    ///
    /// **Failure** As with an async service.
    public func signIn(_ credential: Credential, to service: AccessTokenService) async throws {
        try await signIn(credential, to: service, since: service.signOuts)
    }

    private func signIn(_ credential: Credential, to service: AccessTokenService, since signOuts: Int) async throws {
        await sessionsAreForgotten { done in service.whenForgotten(done) }
        try await begin(with: credential) { signOuts == service.signOuts }
        let token = credential.accessToken(for: exchange.key)
        guard service.signIn(token, since: signOuts) else { throw AccessTokenError.signedOut }
    }

    /// Begins a session at the end of a login, for callback code; the handler is called once, on any thread.
    ///
    /// It does what ``signIn(_:to:)-(_,AccessTokenService)`` does. A failure leaves the service as it was.
    @available(*, renamed: "signIn(_:to:)")
    public func signIn(
        _ credential: Credential,
        to service: AccessTokenService,
        then handler: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        // Here, and not in the task: a sign-out by the caller's next line comes after the login.
        let signOuts = service.signOuts
        Task {
            do {
                handler(.success(try await signIn(credential, to: service, since: signOuts)))
            } catch {
                handler(.failure(error))
            }
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
                if record?.credential.isOfAnother(than: self.subject) == true { return .keep }
                self.memory.withLock { $0.held = nil }
                guard let credential = record?.credential, credential.released != credential else { return .keep }
                return .replace(credential.released)
            }
        }.value
    }

    // MARK: Sign-out

    /// Ends the session: removes the credential, then revokes it if the endpoint has a `revocationURL` (RFC 7009).
    ///
    /// A load of this process that is running is waited for: what it brings is removed and revoked as well. That and
    /// the revocation may each take the endpoint's deadline. A user interface need not wait for them; the next
    /// `signIn(_:)` must. A load of another user goes on, and is waited for until its reply has come.
    ///
    /// **Failure** Is told to `onUnheardError`; ``endSession()`` throws it. Without a network the user is signed out
    /// here all the same. A credential that cannot be removed is revoked, also one that cannot be read and that this
    /// loader has seen before. This process removes it as soon as the store allows, and no load hands it out. What can
    /// never be read is removed, or it could come back; what is in a folder that others can use is left there.
    public func signOut() async {
        let left = await Task { await self.forget() }.value
        for error in [left.store, left.server] { if let error { onUnheardError?(error) } }
    }

    /// Ends the session as ``signOut()`` does, and says what is left of it, for a program that has to tell its user.
    ///
    /// A service of this loader does not learn of it: call its `signOut()` afterwards.
    ///
    /// **Failure** ``UnfinishedSignOut``, which says whether the credential is still in the store, and whether the
    /// server has revoked it.
    public func endSession() async throws {
        let left = await Task { await self.forget() }.value
        guard left.store == nil, left.server == nil else { throw left }
    }

    /// Removes the credential, and then revokes it: what cannot be removed is to be worthless at least.
    private func forget() async -> UnfinishedSignOut {
        let (credential, storeError, unread) = await removeRecord()
        payLater()
        var serverError = credential == nil ? unread : nil
        if let credential {
            do { try await exchange.revoke(credential) } catch { serverError = error }
            // Also of a record that is still to be removed.
            if let key = credential.proofKey { exchange.proofKeys?.forget(key) }
        }
        return UnfinishedSignOut(store: storeError, server: serverError)
    }

    /// Attempts to remove the credential of a session that ends.
    private static let mostRemovals = 3

    /// Removes the record of the session that ends.
    ///
    /// - Returns: what is to be revoked; why the record is still there; and why it could not be read.
    private func removeRecord() async -> (revocable: Credential?, left: (any Error)?, unread: (any Error)?) {
        // What was read, or else what this loader knows.
        let found = Locked<Credential?>(nil)
        let guess = Locked<Credential?>(nil)
        @Sendable func revocable() -> Credential? { found.withLock { $0 } ?? guess.withLock { $0 } }
        for attempt in 1...Self.mostRemovals {
            do {
                let record = try await updateSession(of: subject, keeping: { revocable()?.proofKey }) { record in
                    // Another user's session goes on.
                    if record?.credential.isOfAnother(than: self.subject) == true { return .keep }
                    // After the first attempt there may be a new session, which is not to end.
                    guard attempt == 1 || self.memory.withLock({ $0.hasEnded(record) }) else { return .keep }
                    let credential = self.end(record?.credential)
                    found.withLock { $0 = $0 ?? credential }
                    return record == nil ? .keep : .remove
                }
                memory.withLock { $0.forgetEnded(by: record) }
                return (revocable(), nil, nil)
            } catch {
                if attempt == 1, found.withLock({ $0 }) == nil {
                    do {
                        let present = try await store.load()?.credential
                        if present?.isOfAnother(than: subject) == true { return (nil, nil, nil) }
                        let credential = end(present)
                        found.withLock { $0 = credential }
                    } catch {
                        let credential = end(nil, unread: exchange.clock.now)
                        guess.withLock { $0 = credential }
                    }
                }
                let storeError = error as? CredentialStoreError
                if storeError?.isUnreadable == true || storeError?.isInsecure == true {
                    do {
                        if try await isRemovedUnread(after: error) { return (revocable(), nil, error) }
                    } catch {
                        return (revocable(), error, error)
                    }
                }
                // This process removes it later.
                if attempt == Self.mostRemovals || storeError == .busy { return (revocable(), error, nil) }
            }
        }
        return (revocable(), nil, nil)
    }

    /// Removes what cannot be read now: it may be readable later, and the session would be back.
    ///
    /// - Returns: whether the session is gone. A record that can be read again meanwhile was not removed.
    private func isRemovedUnread(after error: any Error) async throws -> Bool {
        guard let store = store as? any PlacedCredentialStore else { throw error }
        try await store.reset(evenIfReadable: false)
        let record = try await store.load()
        return memory.withLock { memory in
            memory.forgetEnded(by: record)
            return memory.ended == nil
        }
    }

    /// Ends the session in the memory; inside the exclusion, where the next one has not begun.
    ///
    /// - Parameters:
    ///   - credential: what is in the store.
    ///   - unread: the time, if nobody can say what is in the store.
    /// - Returns: what is to be revoked.
    private func end(_ credential: Credential?, unread: Date? = nil) -> Credential? {
        memory.withLock { memory in
            // The store has another user's session, as far as this process knows: that goes on.
            guard credential != nil || !memory.isOfAnother(than: subject) else { return nil }
            let seen = unread == nil ? nil : memory.seen?.credential
            let known = credential ?? seen.flatMap { $0.isOfAnother(than: subject) ? nil : $0 }
            let unsaved = memory.unsaved
            memory.forget()
            if known != nil || unread != nil {
                memory.ended = .init(session: known.map { SessionMark($0) }, unread: unread, subject: subject)
            }
            // What was issued and never saved is the successor of what is stored, unless that is newer.
            guard let unsaved, credential.map({ $0.isSame(as: unsaved.base) }) != false else { return known }
            return unsaved.credential
        }
    }

    // MARK: Parts

    /// Begins a session in place of whatever is there, or ends that of a user.
    ///
    /// A request of this process that is under way is waited for, and up to the exchange's deadline: what it brings is
    /// of the session that ends. If the store does not take a sign-in, that session goes on.
    private func updateSession(
        of subject: String? = nil,
        keeping kept: @Sendable () -> Data? = { nil },
        _ body: @escaping CredentialUpdate
    ) async throws -> CredentialRecord? {
        let timer = exchange.clock.schedule(after: exchange.deadline) { [memory] in
            memory.replies.cancelAll(of: subject)
        }
        defer { timer.cancel() }
        return try await updateStore(keeping: kept, body)
    }

    func revoke(_ credential: Credential) async {
        do {
            try await exchange.revoke(credential)
        } catch {
            onUnheardError?(error)
        }
    }
}
