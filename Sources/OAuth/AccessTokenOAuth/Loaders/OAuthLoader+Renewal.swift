public import AccessTokenCore
import Foundation

/// Carries out what the ``RenewalStateMachine`` decides.
extension OAuthLoader {
    /// Obtains a new token; see `AsyncAccessTokenLoader.load(replacing:)`.
    ///
    /// The store's exclusion lasts as long as the exchange, and the caller waits for as long as the exchange's
    /// deadline. Both begin when the load has its turn at the endpoint.
    public func load(replacing old: AccessToken?) async throws -> AccessToken {
        var turn = exchange.gate?.turnAtOnce()
        if turn == nil, let gate = exchange.gate, await isGoingToSend(replacing: old) {
            turn = try await gate.turn(.renewal)
        }
        do {
            return try await load(machine(replacing: old), at: turn)
        } catch let needed as TurnNeeded {
            return try await load(needed.machine, at: try await exchange.gate?.turn(.renewal))
        }
    }

    /// Whether a load would exchange something, by a look at the store from outside.
    ///
    /// A load that finds what another process has brought, or needs no server, waits for no turn.
    private func isGoingToSend(replacing old: AccessToken?) async -> Bool {
        do {
            let record = try await store.load()
            var machine = machine(replacing: old)
            // A copy: nothing is decided here.
            var known = memory.withLock { $0 }
            _ = machine.entered(record, &known, at: exchange.clock.now)
            return machine.isSending
        } catch {
            // The load itself will say so.
            return false
        }
    }

    private func machine(replacing old: AccessToken?) -> RenewalStateMachine {
        let settings = RenewalStateMachine.Settings(
            hasGrant: exchange.hasGrant,
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

    private func load(_ machine: RenewalStateMachine, at turn: ExchangeGate.Turn?) async throws -> AccessToken {
        let load = RunningLoad(machine, memory, hasTurn: exchange.gate == nil || turn != nil)
        let answer = OutstandingExchange<Result<AccessToken, any Error>> { [onUnheardError] result, isLate in
            guard isLate, case .failure(let error) = result, error as? OAuthError != .timedOut else { return }
            if !(error is TurnNeeded) { onUnheardError?(error) }
        }
        // A task of its own: the caller's cancellation must not reach the exchange, nor the write after it.
        Task {
            let result = await ExchangeGate.$current.withValue(turn ?? ExchangeGate.current) { await self.run(load) }
            turn?.end()
            answer.settle(result)
        }
        guard let result = await answer.reply(within: exchange.deadline, by: exchange.clock) else {
            let isSending = load.decide { machine, _ in
                machine.deadlinePassed()
                return machine.isSending
            }
            // It may wait for its store for much longer, and sends nothing any more.
            if !isSending { turn?.end() }
            throw OAuthError.timedOut
        }
        return try result.get()
    }

    private func run(_ load: RunningLoad) async -> Result<AccessToken, any Error> {
        while true {
            let (update, present) = await update(by: load)
            if let machine = load.machineWithoutTurn { return .failure(TurnNeeded(machine: machine)) }
            let now = exchange.clock.now
            let action = load.decide { $0.left(update, present: present, &$1, at: now) }
            let leftovers = load.decide { machine, _ in machine.takeLeftovers() }
            for error in leftovers.errors { onUnheardError?(error) }
            for credential in leftovers.credentials { await revoke(credential) }
            switch action {
            case .enter: continue
            case .pause(let seconds): try? await exchange.clock.pause(for: seconds)
            case .end(let result): return result
            }
        }
    }

    /// One update of the store, and the record if the store did not let the load in.
    private func update(
        by load: RunningLoad
    ) async -> (Result<CredentialRecord?, any Error>, present: CredentialRecord?) {
        let isInside = Locked(false)
        do {
            let record = try await store.update { record in
                isInside.withLock { $0 = true }
                // It throws nothing: an error of the update is an error of the store.
                return await self.change(of: record, by: load)
            }
            return (.success(record), nil)
        } catch {
            // Without the exclusion, nothing is sent.
            return (.failure(error), isInside.withLock { $0 } ? nil : try? await store.load())
        }
    }

    private func change(of record: CredentialRecord?, by load: RunningLoad) async -> CredentialChange {
        let now = exchange.clock.now
        let answer: RenewalStateMachine.Answer
        switch load.entered(record, at: now) {
        case nil: return .keep
        case .leave(let change): return change
        case .send(let refreshToken):
            guard let credential = record?.credential else { return .keep }
            answer = await self.answer(to: .renewal(credential, refreshToken: refreshToken), renewing: credential)
        case .sendGrant:
            answer = await self.answer(to: .grant, renewing: record?.credential)
        }
        let present: CredentialRecord? = if case .failed(_, .refused) = answer { try? await store.load() } else { nil }
        let then = exchange.clock.now
        return load.decide { $0.answered(answer, present: present, &$1, at: then) }
    }

    /// The exchange is seen through: its reply is the only place where a rotated refresh token is.
    private func answer(
        to request: TokenExchange.Request,
        renewing old: Credential?
    ) async -> RenewalStateMachine.Answer {
        let isGivenUp = Locked(false)
        let outstanding = OutstandingExchange<TokenReply> { reply, isLate in
            guard isLate, let credential = self.credential(from: reply, renewing: old) else { return }
            if isGivenUp.withLock({ $0 }) {
                // The session has ended, and of it nothing is left behind.
                Task { await self.revoke(credential) }
            } else {
                // Later than any reply of an endpoint: the next load saves it, if nothing newer is there.
                self.memory.withLock { $0.unsaved = $0.unsaved ?? .init(credential: credential, base: old) }
            }
        }
        let waiting = memory.replies.begin()
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
            return isGivenUp.withLock { $0 } ? .givenUp : .failed(.timedOut)
        }
        if let credential = credential(from: reply, renewing: old) { return .issued(credential, reply.accessToken) }
        guard case .failure(let error) = reply.result else { return .failed(.timedOut) }
        return .failed(error, reply.fate ?? .unanswered)
    }

    /// What the server handed out, if it did, together with what it left as it was.
    private func credential(from reply: TokenReply, renewing old: Credential?) -> Credential? {
        switch reply.result {
        case .success(let response):
            Credential(response, renewing: old, for: exchange.key, at: exchange.clock.now)
        case .failure:
            // The present access token may live on, for peers and for the next start of the app.
            reply.rescuedRefreshToken.map { (old ?? Credential(refreshToken: nil)).with(refreshToken: $0) }
        }
    }
}

/// A load would exchange something, and has no turn.
private struct TurnNeeded: Error {
    /// It goes on where it was: what it has waited for is not waited for again.
    let machine: RenewalStateMachine
}

/// A load under way: its machine, and the memory that it shares with others.
private final class RunningLoad: Sendable {
    private let machine: Locked<RenewalStateMachine>
    private let memory: SharedLoaderMemory
    private let hasTurn: Bool
    private let needsTurn = Locked(false)

    init(_ machine: RenewalStateMachine, _ memory: SharedLoaderMemory, hasTurn: Bool) {
        self.machine = Locked(machine)
        self.memory = memory
        self.hasTurn = hasTurn
    }

    /// The machine of a load that has left the store as it was, and goes on with a turn only.
    var machineWithoutTurn: RenewalStateMachine? { needsTurn.withLock { $0 } ? machine.withLock { $0 } : nil }

    func decide<Action: Sendable>(
        _ input: (inout RenewalStateMachine, inout LoaderMemory) -> Action
    ) -> Action {
        memory.withLock { memory in machine.withLock { input(&$0, &memory) } }
    }

    /// The load has looked at the record; `nil` if it lacks a turn for what it would do: then it has done nothing.
    func entered(_ record: CredentialRecord?, at now: Date) -> RenewalStateMachine.InsideAction? {
        let action = decide { machine, memory -> RenewalStateMachine.InsideAction? in
            var (next, nextMemory) = (machine, memory)
            let action = next.entered(record, &nextMemory, at: now)
            guard hasTurn || !next.isSending else { return nil }
            (machine, memory) = (next, nextMemory)
            return action
        }
        if action == nil { needsTurn.withLock { $0 = true } }
        return action
    }
}

extension RenewalStateMachine {
    /// Whether the load has sent something, or will, unless the record is another one at its next look.
    fileprivate var isSending: Bool {
        switch state {
        case .announcing, .announced, .sending: true
        case .looking, .settled, .ended: false
        }
    }
}
