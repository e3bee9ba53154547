import AccessTokenSynchronization
import Foundation

extension OAuthLoader {
    /// Attempts to remove the credential of a session that ends.
    private static let mostRemovals = 3

    /// Removes the credential, and then revokes it: what cannot be removed is to be worthless at least.
    ///
    /// A removal that fails is tried again. What is left after that is removed by the next load, which finds nobody
    /// signed in.
    func forget() async {
        let revoked = Locked<Credential?>(nil)
        for attempt in 1...Self.mostRemovals {
            do {
                try await updateSession { record in
                    // Another user's session goes on.
                    if record?.credential.isOfAnother(than: self.subject) == true { return .keep }
                    // After the first attempt there may be a new session, which is not to end, if that can be known.
                    let (ended, isUnread) = self.memory.withLock { ($0.ended, $0.hasEndedUnread) }
                    guard attempt == 1 || isUnread || record?.credential.isSame(as: ended) == true else { return .keep }
                    let credential = self.endSession(with: record?.credential)
                    revoked.withLock { $0 = $0 ?? credential }
                    return record == nil ? .keep : .remove
                }
                memory.withLock { $0.ended = nil }
                break
            } catch {
                if attempt == 1, revoked.withLock({ $0 }) == nil {
                    let present = await Task { try await store.load()?.credential }.result
                    let own = (try? present.get()).flatMap { $0.isOfAnother(than: subject) ? nil : $0 }
                    let credential = endSession(with: own)
                    revoked.withLock { $0 = credential }
                    if case .failure = present { memory.withLock { $0.hasEndedUnread = true } }
                }
                let storeError = error as? CredentialStoreError
                let isUnreadable = storeError?.isUnreadable == true || storeError?.isInsecure == true
                guard attempt < Self.mostRemovals, !isUnreadable, storeError != .busy else {
                    // What cannot be read now may be readable later, and the session would be back.
                    if isUnreadable { try? await (store as? any PlacedCredentialStore)?.reset(evenIfReadable: false) }
                    onUnheardError?(error)
                    break
                }
            }
        }
        memory.withLock { $0.hasEndedUnread = false }
        if let credential = revoked.withLock({ $0 }) { await revoke(credential) }
    }

    /// Begins or ends a session.
    ///
    /// A request of this process that is under way is waited for, and up to the exchange's deadline: what it brings is
    /// of the session that ends.
    func updateSession(_ body: CredentialUpdate) async throws {
        let timer = exchange.clock.schedule(after: exchange.deadline) { [memory] in memory.replies.cancelAll() }
        defer { timer.cancel() }
        try await store.update(body)
    }

    /// What is to be revoked of the session that ends; inside the exclusion, where the next one has not begun.
    private func endSession(with credential: Credential?) -> Credential? {
        memory.withLock { memory in
            defer {
                memory.forget()
                memory.ended = credential
            }
            // What was issued and never saved is the successor of what is stored, unless that is newer.
            guard let unsaved = memory.unsaved, credential.map({ $0.isSame(as: unsaved.base) }) != false else {
                return credential
            }
            return unsaved.credential
        }
    }

    func revoke(_ credential: Credential) async {
        do {
            try await exchange.revoke(credential)
        } catch {
            onUnheardError?(error)
        }
    }
}
