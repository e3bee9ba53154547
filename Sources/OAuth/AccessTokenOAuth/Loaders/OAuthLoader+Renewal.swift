import AccessTokenCore
import AccessTokenSynchronization
import Foundation

/// Carries out what the ``RenewalStateMachine`` decides; `OAuthLoader+Waiting.swift` has the waits before.
extension OAuthLoader {
    /// How far a load has come with what it has.
    enum Ending: Sendable {
        case result(Result<AccessToken, any Error>)
        case wait(for: Need)
    }

    func machine(replacing old: AccessToken?) -> RenewalStateMachine {
        let settings = RenewalStateMachine.Settings(
            hasGrant: exchange.hasGrant,
            sendsByTurn: exchange.gate != nil,
            leeway: leeway,
            // A request that was announced may still be sent until the deadline has passed.
            patience: exchange.replyLimit + exchange.deadline,
            longestAnnouncement: exchange.deadline,
            quietTime: min(5, exchange.deadline),
            takeOverDelay: store.takeOverDelay,
            key: exchange.key,
            takesType: exchange.takesType,
            subject: subject
        )
        return RenewalStateMachine(replacing: old, settings)
    }

    /// Runs a load until it has its result, or lacks something; for as long as a caller waits.
    func ending(of load: RunningLoad, with means: Means) async throws -> Ending {
        let answer = OutstandingExchange<Ending> { [onUnheardError] ending, isLate in
            guard isLate, case .result(.failure(let error)) = ending, error as? OAuthError != .timedOut else { return }
            onUnheardError?(error)
        }
        // A task of its own: the caller's cancellation must not reach the exchange, nor the write after it.
        Task {
            let ending = await self.run(load, with: means)
            means.turn?.end()
            answer.settle(ending)
        }
        guard let ending = await answer.reply(within: exchange.deadline, by: exchange.clock) else {
            let error = load.decide { machine, _ in machine.deadlinePassed() }
            endTurn(of: load, with: means)
            if let token = await tokenBesides(load) { return .result(.success(token)) }
            throw error
        }
        return ending
    }

    /// What a load wants that was kept out of the store: whoever is inside may have stopped beside a valid token.
    private func tokenBesides(_ load: RunningLoad) async -> AccessToken? {
        guard load.decide({ machine, _ in !machine.hasSent }) else { return nil }
        let look = { @Sendable in try await self.store.load() }
        guard let record = try? await made(within: 1, by: exchange.clock, orThrow: OAuthError.timedOut, look) else {
            return nil
        }
        learn(from: record)
        let now = exchange.clock.now
        return load.decide { machine, memory in machine.adoptable(record, memory, at: now) }
    }

    /// Ends the turn of a load for which no caller waits, as soon as the load can send nothing any more.
    ///
    /// The load may wait for its store for much longer, or for ever: fifty such loads would hold all turns.
    private func endTurn(of load: RunningLoad, with means: Means) {
        let now = exchange.clock.now
        switch load.decide({ machine, _ in machine.turnEnd(at: now) }) {
        case .now: means.turn?.end()
        case .withReply: break
        case .after(let seconds):
            _ = exchange.clock.schedule(after: seconds) { [weak load] in
                if let load { self.endTurn(of: load, with: means) }
            }
        }
    }

    func run(_ load: RunningLoad, with means: Means) async -> Ending {
        while true {
            let (update, present) = await update(by: load, with: means)
            let now = exchange.clock.now
            let action = load.decide { $0.left(update, present: present, &$1, at: now) }
            let leftovers = load.decide { machine, _ in machine.takeLeftovers() }
            for error in leftovers.errors { onUnheardError?(error) }
            for credential in leftovers.credentials { await revoke(credential) }
            switch action {
            case .enter: continue
            case .pause(let seconds): try? await exchange.clock.pause(for: seconds)
            case .wait(let need): return .wait(for: need)
            case .end(let result):
                payLater()
                return .result(result)
            }
        }
    }

    /// One update of the store, and the record if the store did not let the load in.
    private func update(
        by load: RunningLoad,
        with means: Means
    ) async -> (Result<CredentialRecord?, any Error>, present: CredentialRecord?) {
        let isInside = Locked(false)
        do {
            let record = try await updateStore { record in
                isInside.withLock { $0 = true }
                // It throws nothing: an error of the update is an error of the store.
                return await self.change(of: record, by: load, with: means)
            }
            return (.success(record), nil)
        } catch {
            // Without the exclusion, nothing is sent.
            let present = isInside.withLock { $0 } ? nil : try? await store.load()
            learn(from: present)
            return (.failure(error), present)
        }
    }

    private func change(
        of record: CredentialRecord?,
        by load: RunningLoad,
        with means: Means
    ) async -> CredentialChange {
        let now = exchange.clock.now
        let answer: RenewalStateMachine.Answer
        switch load.decide({ $0.entered(record, &$1, at: now, has: means.cover) }) {
        case .leave(let change): return change
        case .send(let refreshToken):
            guard let credential = record?.credential else { return .keep }
            let number = load.decide { machine, _ in machine.numberUnderWay }
            let request = TokenExchange.Request.renewal(credential, refreshToken: refreshToken)
            answer = await self.answer(to: request, as: number, renewing: credential)
        case .sendGrant:
            guard let grant = means.grant else { return .keep }
            let request = TokenExchange.Request.grant(grant.grant, replacing: record?.credential)
            answer = await self.answer(to: request, renewing: record?.credential)
        }
        let present: CredentialRecord? = if case .failed(_, .refused) = answer { try? await store.load() } else { nil }
        let then = exchange.clock.now
        let (change, isWanted) = load.decide { machine, memory in
            (machine.answered(answer, present: present, &memory, at: then), machine.isWanted)
        }
        if !isWanted { endTurn(of: load, with: means) }
        return change
    }

    /// The exchange is seen through: its reply is the only place where a rotated refresh token is.
    ///
    /// - Parameter number: that of the note that announces the request.
    private func answer(
        to request: TokenExchange.Request,
        as number: Int? = nil,
        renewing old: Credential?
    ) async -> RenewalStateMachine.Answer {
        if let obstacle = SavingObstacle.current { return .failed(obstacle, .notCarriedOut) }
        let isGivenUp = Locked(false)
        let epoch = memory.withLock { $0.epoch }
        let outstanding = OutstandingExchange<TokenReply> { reply, isLate in
            guard isLate else { return }
            let credential = self.credential(from: reply, renewing: old)
            let hasEnded = self.memory.withLock { memory in
                if let number { memory.sending.remove(number) }
                guard memory.epoch == epoch else { return true }
                // The next load saves it, if nothing newer is there.
                if let credential { memory.unsaved = memory.unsaved ?? .init(credential: credential, base: old) }
                return false
            }
            guard let credential else { return }
            // Of a session that has ended nothing is left behind.
            if hasEnded { Task { await self.revoke(credential) } } else { self.payLater() }
        }
        let waiting = memory.replies.begin(for: old?.subject ?? subject)
        waiting.whenFired {
            isGivenUp.withLock { $0 = true }
            outstanding.giveUp()
        }
        defer { memory.replies.end(waiting) }
        do {
            try await exchange.start(request, outstanding)
        } catch {
            return .failed(error, .notCarriedOut)
        }
        let limit = exchange.endsByItself ? nil : exchange.replyLimit
        guard let reply = await outstanding.reply(within: limit, by: exchange.clock) else {
            guard isGivenUp.withLock({ $0 }) else { return .failed(.timedOut) }
            if let limit, let number {
                // Code of the app's own may never end.
                _ = exchange.clock.schedule(after: limit) { [memory] in
                    memory.withLock { _ = $0.sending.remove(number) }
                }
            }
            return .givenUp
        }
        if let credential = credential(from: reply, renewing: old) { return .issued(credential, reply.accessToken) }
        guard case .failure(let error) = reply.result else { return .failed(.timedOut) }
        return .failed(error, reply.fate ?? .unanswered)
    }

    private func credential(_ response: TokenResponse, renewing old: Credential?) -> Credential {
        let credential = Credential(response, renewing: old, for: exchange.key, at: exchange.clock.now)
        // A grant begins a session.
        return old == nil ? credential.inSession(.random()) : credential
    }

    /// What the server handed out, if it did, together with what it left as it was.
    private func credential(from reply: TokenReply, renewing old: Credential?) -> Credential? {
        switch reply.result {
        case .success(let response):
            credential(response, renewing: old)
        case .failure:
            // The present access token may live on, for peers and for the next start of the app.
            reply.rescuedRefreshToken.map { refreshToken in
                (old ?? Credential(refreshToken: nil)).with(refreshToken: refreshToken, boundTo: reply.proofKey)
            }
        }
    }
}
