import AccessTokenCore

extension OAuthLoader {
    /// Removes the credential, and then revokes it: what cannot be removed is to be worthless at least.
    func forget() async {
        let ended = Locked<Credential?>(nil)
        do {
            try await store.update { record in
                let credential = self.endSession(with: record)
                ended.withLock { $0 = credential }
                return record == nil ? .keep : .remove
            }
        } catch {
            onUnheardError?(error)
            if ended.withLock({ $0 }) == nil {
                let credential = endSession(with: try? await store.load())
                ended.withLock { $0 = credential }
            }
        }
        if let credential = ended.withLock({ $0 }) { await revoke(credential) }
    }

    /// What is to be revoked of the session that ends; inside the exclusion, where the next one has not begun.
    private func endSession(with record: CredentialRecord?) -> Credential? {
        memory.withLock { memory in
            defer { memory.forget() }
            // What was issued and never saved is the successor of what is stored, unless that is newer.
            guard let unsaved = memory.unsaved, record == nil || unsaved.base == record?.version else {
                return record?.credential
            }
            return unsaved.credential
        }
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
