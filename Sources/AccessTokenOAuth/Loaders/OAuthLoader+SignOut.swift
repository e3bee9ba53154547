import AccessTokenCore

extension OAuthLoader {
    /// Removes the credential, and then revokes it: what cannot be removed is to be worthless at least.
    func forget() async {
        let removed = Locked<Credential?>(nil)
        do {
            try await store.update { record in
                removed.withLock { $0 = record?.credential }
                return record == nil ? .keep : .remove
            }
        } catch {
            onUnheardError?(error)
            if let record = try? await store.load() { removed.withLock { $0 = record.credential } }
        }
        // What was issued and never saved is the successor of what was stored.
        let unsaved = memory.withLock { memory in
            defer { memory.forget() }
            return memory.unsaved?.credential
        }
        if let credential = unsaved ?? removed.withLock({ $0 }) { await revoke(credential) }
    }

    func revoke(_ credential: Credential) async {
        do {
            if let refreshToken = credential.refreshToken {
                try await endpoint.revoke(refreshToken)
            } else if let accessToken = credential.accessToken {
                try await endpoint.revoke(accessToken.value, hint: "access_token")
            }
        } catch {
            onUnheardError?(error)
        }
    }
}
