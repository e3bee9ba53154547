import AccessTokenAsync
import AccessTokenCore
import Foundation

extension OAuthLoader {
    /// What one look at the record came to, inside the exclusion.
    private enum Outcome: Sendable {
        case answer(AccessToken)
        case failure(any Error)
        /// The record was brought up to date, or changed under our hands: look again.
        case again
    }

    /// An outcome, and what it makes of the record.
    private struct Attempt: Sendable {
        let change: CredentialChange
        let outcome: Outcome
        let base: Int?

        init(_ change: CredentialChange, _ outcome: Outcome, on record: CredentialRecord?) {
            self.change = change
            self.outcome = outcome
            base = record?.version
        }

        /// Whether the store did as it was told: one that has lost its exclusion keeps what a peer wrote meanwhile.
        func wasTaken(in record: CredentialRecord?) -> Bool {
            guard case .replace(let credential) = change else { return true }
            return record?.credential.refreshToken == credential.refreshToken
                && record?.credential.accessToken?.value == credential.accessToken?.value
        }
    }

    /// A save of what was not saved, a rotation by a peer, an exchange, and one to spare.
    private static let mostAttempts = 4
    /// Attempts to save what the server issued, before the error goes to the callers.
    private static let mostSaves = 3

    func transact(replacing old: AccessToken?) async throws -> AccessToken {
        var failedSaves = 0
        var brought: AccessToken?
        for _ in 0..<(Self.mostAttempts + Self.mostSaves) {
            let (attempt, update) = await runAttempt(replacing: old, brought: brought)
            if case .answer(let token) = attempt?.outcome { brought = token }
            if case .failure(let failure) = update {
                if attempt == nil, let token = await tokenOfPeer(replacing: old) { return token }
                // The exchange is not repeated: what it brought stays in memory, for the next attempt or the next load.
                failedSaves += 1
                guard failedSaves < Self.mostSaves, memory.withLock({ $0.unsaved != nil }) else {
                    // What the server says is of more use to callers than that it could not be written down.
                    guard case .failure(let error) = attempt?.outcome else { throw failure }
                    onUnheardError?(failure)
                    throw error
                }
                continue
            }
            guard let attempt, attempt.wasTaken(in: try update.get()) else { continue }
            if attempt.change != .keep { forgetUnsaved(on: attempt.base) }
            switch attempt.outcome {
            case .answer(let token): return token
            case .failure(let error): throw error
            case .again: continue
            }
        }
        throw CredentialStoreError.busy
    }

    /// One update of the store, without an attempt if the store did not run the body.
    private func runAttempt(
        replacing old: AccessToken?,
        brought: AccessToken?
    ) async -> (Attempt?, Result<CredentialRecord?, any Error>) {
        let last = Locked<Attempt?>(nil)
        do {
            let record = try await store.update { record in
                let attempt = await self.decide(about: record, replacing: old, brought: brought)
                last.withLock { $0 = attempt }
                return attempt.change
            }
            return (last.withLock { $0 }, .success(record))
        } catch {
            return (last.withLock { $0 }, .failure(error))
        }
    }

    /// Decides, inside the exclusion, what becomes of the record, and what the callers are told.
    ///
    /// It throws nothing, so that an error of the update is an error of the store.
    private func decide(
        about record: CredentialRecord?,
        replacing old: AccessToken?,
        brought: AccessToken?
    ) async -> Attempt {
        if let record, hasEnded(record) { return Attempt(.remove, .failure(AccessTokenError.signedOut), on: record) }
        if let unsaved = unsaved(on: record?.version) {
            // A token that this very load brought is its answer, however short it lives.
            let token = unsaved.accessToken.flatMap { $0 == brought ? $0 : nil }
            return Attempt(.replace(unsaved), token.map { .answer($0) } ?? .again, on: record)
        }
        if let token = adoptable(record, replacing: old) { return Attempt(.keep, .answer(token), on: record) }
        do {
            if let record, let refreshToken = record.credential.refreshToken {
                guard memory.withLock({ $0.refused != refreshToken }) else { return refused(record) }
                return await settle(try await exchange(of: refreshToken, in: record), record)
            }
            guard let grant else { return Attempt(.keep, .failure(AccessTokenError.signedOut), on: record) }
            return await settle(try await endpoint.start(grant) { _, _ in }, record)
        } catch {
            return Attempt(.keep, .failure(error), on: record)
        }
    }

    private func settle(_ exchange: OutstandingExchange<TokenReply>, _ record: CredentialRecord?) async -> Attempt {
        guard let reply = await exchange.reply(within: endpoint.deadline, by: endpoint.clock) else {
            exchange.limitPatience(to: endpoint.deadline, by: endpoint.clock)
            return Attempt(.keep, .failure(OAuthError.timedOut), on: record)
        }
        if let credential = credential(from: reply, renewing: record?.credential) {
            memory.withLock { $0.unsaved = LoaderMemory.Unsaved(credential: credential, base: record?.version) }
            switch reply.result {
            case .success(let response): return Attempt(.replace(credential), .answer(response.accessToken), on: record)
            case .failure(let error): return Attempt(.replace(credential), .failure(error), on: record)
            }
        }
        guard case .failure(let error) = reply.result, error.requiresSignIn, let record else {
            return Attempt(.keep, .failure(reply.error ?? .timedOut), on: record)
        }
        memory.withLock { $0.refused = record.credential.refreshToken }
        // A peer may have rotated it all the same, in a store whose exclusion can be lost.
        if let present = try? await store.load(), present.version != record.version {
            return Attempt(.keep, .again, on: record)
        }
        return refused(record, with: error)
    }

    /// The refresh token that was sent is no good any more; a record with another one never comes here.
    private func refused(_ record: CredentialRecord, with error: OAuthError = .refused("invalid_grant")) -> Attempt {
        Attempt(.remove, grant == nil ? .failure(error) : .again, on: record)
    }

    /// Whoever is inside and does not let us in may have written what we want; without the exclusion, nothing is sent.
    private func tokenOfPeer(replacing old: AccessToken?) async -> AccessToken? {
        adoptable(try? await store.load(), replacing: old)
    }

    /// By value: what a store makes of a date need not be equal to the last digit.
    private func adoptable(_ record: CredentialRecord?, replacing old: AccessToken?) -> AccessToken? {
        guard let credential = record?.credential, credential.accessToken?.value != old?.value,
            credential.isUsable(at: endpoint.clock.now, leeway: leeway)
        else { return nil }
        return credential.accessToken
    }

    private func unsaved(on version: Int?) -> Credential? {
        memory.withLock { memory in
            // In the place of anything newer it would do harm.
            if memory.unsaved?.base != version { memory.unsaved = nil }
            return memory.unsaved?.credential
        }
    }

    func forgetUnsaved(on version: Int?) {
        memory.withLock { memory in
            if memory.unsaved?.base == version { memory.unsaved = nil }
        }
    }
}
