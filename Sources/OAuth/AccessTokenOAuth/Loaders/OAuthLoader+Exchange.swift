import AccessTokenCore
import Foundation

extension OAuthLoader {
    /// The exchange of a refresh token: the one that was sent and may still be answered, or a new one.
    ///
    /// To send the same refresh token a second time while the first request is under way is what servers take for theft.
    func exchange(
        of refreshToken: String,
        in record: CredentialRecord
    ) async throws -> OutstandingExchange<TokenReply> {
        let present = memory.withLock { $0.outstanding }
        // But not for ever: a connection that is dead without knowing it would keep the user out until it does.
        if let present, present.refreshToken == refreshToken,
            present.exchange.isSettled || !present.exchange.isGivenUp
        {
            return present.exchange
        }
        let number = memory.withLock { memory in
            memory.exchanges += 1
            return memory.exchanges
        }
        return try await endpoint.start(.refreshToken(refreshToken)) { [memory] exchange in
            let sent = LoaderMemory.Outstanding(number: number, refreshToken: refreshToken, exchange: exchange)
            memory.withLock { $0.outstanding = sent }
        } onReply: { [self] reply, isLate in
            guard isLate else { return forgetOutstanding(number) }
            Task {
                await self.keepLate(reply, of: refreshToken, replacing: record)
                // Not before: a load that finds neither the exchange nor what it brought would send the token again.
                self.forgetOutstanding(number)
            }
        }
    }

    /// What the server handed out, if it did, together with what it left as it was.
    func credential(from reply: TokenReply, renewing old: Credential?) -> Credential? {
        switch reply.result {
        case .success(let response):
            Credential(response, renewing: old, at: endpoint.clock.now)
        case .failure:
            // The present access token may live on, for peers and for the next start of the app.
            reply.rescuedRefreshToken.map { token in
                Credential(
                    accessToken: old?.accessToken,
                    refreshToken: token,
                    scope: old?.scope,
                    obtained: old?.obtained,
                    otherMembers: old?.otherMembers ?? [:]
                )
            }
        }
    }

    private func forgetOutstanding(_ number: Int) {
        memory.withLock { memory in
            if memory.outstanding?.number == number { memory.outstanding = nil }
        }
    }

    /// Saves what came after nobody waited any more, unless something newer is there.
    private func keepLate(_ reply: TokenReply, of refreshToken: String, replacing record: CredentialRecord) async {
        guard let credential = credential(from: reply, renewing: record.credential) else {
            if reply.error?.requiresSignIn == true { memory.withLock { $0.refused = refreshToken } }
            return
        }
        memory.withLock { memory in
            // What a later session has not saved yet is lost if it is not here; no record means later, too.
            if let unsaved = memory.unsaved, unsaved.base ?? .max > record.version { return }
            memory.unsaved = LoaderMemory.Unsaved(credential: credential, base: record.version)
        }
        do {
            let present = try await store.update { current in
                current?.version == record.version ? .replace(credential) : .keep
            }
            forgetUnsaved(on: record.version)
            // Of a session that has ended nothing is left behind. (In a newer record it may be that record's family.)
            if present == nil { await revoke(credential) }
        } catch {
            onUnheardError?(error)
        }
    }
}
