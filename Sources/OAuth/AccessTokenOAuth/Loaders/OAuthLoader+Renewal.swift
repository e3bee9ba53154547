public import AccessTokenCore
import AccessTokenSynchronization
import Foundation

/// Carries out what the ``RenewalStateMachine`` decides.
extension OAuthLoader {
    /// Obtains a new token; see `AsyncAccessTokenLoader.load(replacing:)`.
    ///
    /// The store's exclusion lasts as long as the exchange, and the caller waits for as long as the exchange's
    /// deadline. Both begin when the load has its turn at the endpoint; a grant is made before.
    ///
    /// It runs on no actor of the caller's: a main actor would run the steps of all its accounts.
    @concurrent
    public func load(replacing old: AccessToken?) async throws -> AccessToken {
        guard let gate = exchange.gate else { return try await loadAtOnce(replacing: old) }
        // A load waits in this frame, and there may be a thousand for each that is in flight. What a load needs before
        // and after is in frames of its own, which are not inlined here: they would make this one 16 KB large.
        let means: Means
        if !exchange.hasGrant, let turn = gate.turnAtOnce() {
            means = Means(turn: turn)
        } else if let need = try await needByLook(replacing: old) {
            means = try await meansByPlace(for: need, replacing: old, at: gate)
        } else {
            means = Means()
        }
        defer { if means.hasPlace { memory.places.unlock(exchange.key) } }
        return try await load(replacing: old, at: gate, beginningWith: means)
    }

    /// What a load waits for in line, where its store has one place for each key.
    @inline(never)
    private func meansByPlace(
        for need: Need,
        replacing old: AccessToken?,
        at gate: ExchangeGate
    ) async throws -> Means {
        var need = need
        if try await memory.places.lock(exchange.key) {
            // The load before this one may have brought what this one wants.
            guard let present = try await needByLookInPlace(replacing: old) else {
                // Whoever comes next need not wait for this load, which sends nothing.
                memory.places.unlock(exchange.key)
                return Means()
            }
            need = present
        }
        do {
            if case .turn = need { return Means(turn: try await gate.turn(.renewal), hasPlace: true) }
            let means = try await means(for: need, at: gate)
            return Means(turn: means.turn, grant: means.grant, hasPlace: true)
        } catch {
            memory.places.unlock(exchange.key)
            throw error
        }
    }

    @inline(never)
    private func loadAtOnce(replacing old: AccessToken?) async throws -> AccessToken {
        try await load(machine(replacing: old), with: Means())
    }

    @inline(never)
    private func load(
        replacing old: AccessToken?,
        at gate: ExchangeGate,
        beginningWith means: Means
    ) async throws -> AccessToken {
        var (machine, means, looks) = (machine(replacing: old), means, 1)
        while true {
            do {
                return try await load(machine, with: means)
            } catch let needed as MeansNeeded {
                machine = needed.machine
                do {
                    // Another user is in the store each time.
                    guard looks < RenewalStateMachine.mostLooks else { throw CredentialStoreError.busy }
                    looks += 1
                    means = try await self.means(for: needed.need, at: gate)
                } catch {
                    memory.withLock { machine.abandoned(&$0) }
                    throw error
                }
            }
        }
    }

    /// As ``needByLook(replacing:)``, by a load that was handed the place in line; if it throws, the place is left.
    @inline(never)
    private func needByLookInPlace(replacing old: AccessToken?) async throws -> Need? {
        do {
            // It may have been cancelled at the moment at which it was handed the place.
            try Task.checkCancellation()
            return try await needByLook(replacing: old)
        } catch let error as CredentialStoreError {
            // Those who wait would find out one after the other, each after a deadline of its own.
            memory.places.fail(exchange.key, error)
            throw error
        } catch {
            memory.places.unlock(exchange.key)
            throw error
        }
    }

    /// What a load would need, by a look at the store from outside; `nil` if it would send nothing.
    ///
    /// A load that finds what another process has brought, or needs no server, waits for no turn.
    @inline(never)
    private func needByLook(replacing old: AccessToken?) async throws -> Need? {
        try await made(within: exchange.deadline, by: exchange.clock, orThrow: self.unansweredLook) {
            // The load itself will say what fails.
            do { return self.need(for: try await self.store.load(), replacing: old) } catch { return nil }
        }
    }

    /// Nothing was sent, which `timedOut` would not say.
    private var unansweredLook: CredentialStoreError {
        let what = "it has not said within \(exchange.deadline) seconds what is in it, and nothing was sent"
        return .unavailable(at: "\(type(of: store))", what)
    }

    /// Not inlined: a look would keep all of this in its frame while it waits for its store.
    @inline(never)
    private func need(for record: CredentialRecord?, replacing old: AccessToken?) -> Need? {
        var machine = machine(replacing: old)
        // A copy: nothing is decided here.
        var known = memory.withLock { $0 }
        return Need(of: machine.entered(record, &known, at: exchange.clock.now), by: machine, record)
    }

    /// Waits for a turn, and makes the grant before.
    ///
    /// It may be made of a token of the same endpoint, and all turns could be taken by loads that wait for one more.
    @inline(never)
    private func means(for need: Need, at gate: ExchangeGate) async throws -> Means {
        guard case .grant(let session) = need, let makeGrant = exchange.makeGrant else {
            let turn = try await gate.turn(.renewal)
            guard case .grant(let session) = need, let grant = exchange.constantGrant else { return Means(turn: turn) }
            // As below: a sign-out has ended the session meanwhile.
            try Task.checkCancellation()
            return Means(turn: turn, grant: (grant, session))
        }
        var kind = ExchangeLine.Kind.renewal
        while true {
            let grant = try await makeGrant()
            let made = exchange.clock.now
            let turn = try await gate.turn(kind)
            // A sign-out has ended the session meanwhile.
            try Task.checkCancellation()
            // A server may take an assertion for a minute only. The second one is sent in any case: no load makes
            // grants for ever.
            if kind == .returning || exchange.clock.now.timeIntervalSince(made) <= exchange.deadline / 2 {
                return Means(turn: turn, grant: (grant, session))
            }
            turn.end()
            kind = .returning
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

    private func load(_ machine: RenewalStateMachine, with means: Means) async throws -> AccessToken {
        let turn = means.turn
        let load = RunningLoad(machine, memory, turn, mayRenew: exchange.gate == nil || turn != nil, means.grant)
        let answer = OutstandingExchange<Result<AccessToken, any Error>> { [onUnheardError] result, isLate in
            guard isLate, case .failure(let error) = result, error as? OAuthError != .timedOut else { return }
            if !(error is MeansNeeded) { onUnheardError?(error) }
        }
        // A task of its own: the caller's cancellation must not reach the exchange, nor the write after it.
        Task {
            let result = await self.run(load)
            turn?.end()
            answer.settle(result)
        }
        guard let result = await answer.reply(within: exchange.deadline, by: exchange.clock) else {
            load.decide { machine, _ in machine.deadlinePassed() }
            endTurn(of: load)
            throw OAuthError.timedOut
        }
        return try result.get()
    }

    /// Ends the turn of a load for which no caller waits, as soon as the load can send nothing any more.
    ///
    /// The load may wait for its store for much longer, or for ever: fifty such loads would hold all turns.
    private func endTurn(of load: RunningLoad) {
        let now = exchange.clock.now
        switch load.decide({ machine, _ in machine.state }) {
        case .sending: break  // The reply ends the turn.
        case .announcing(let note) where !note.isOlder(than: exchange.deadline, at: now),
            .announced(let note, _) where !note.isOlder(than: exchange.deadline, at: now):
            // By then it will be too late to send what was announced.
            _ = exchange.clock.schedule(after: exchange.deadline) { [weak load] in
                if let load { self.endTurn(of: load) }
            }
        case .looking, .announcing, .announced, .settled, .ended: load.turn?.end()
        }
    }

    private func run(_ load: RunningLoad) async -> Result<AccessToken, any Error> {
        while true {
            let (update, present) = await update(by: load)
            if let needed = load.needed { return .failure(needed) }
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
            guard let grant = load.grant else { return .keep }
            answer = await self.answer(to: .grant(grant.grant), renewing: record?.credential)
        }
        let present: CredentialRecord? = if case .failed(_, .refused) = answer { try? await store.load() } else { nil }
        let then = exchange.clock.now
        let (change, isWanted) = load.decide { machine, memory in
            (machine.answered(answer, present: present, &memory, at: then), machine.isWanted)
        }
        if !isWanted { endTurn(of: load) }
        return change
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

/// What a load needs before it sends; `indirect`, so that it is small in the frames of those that wait.
private indirect enum Need: Sendable {
    case turn
    /// A grant, and a turn; a grant for another session may be one for another user.
    case grant(SessionMark)

    /// What comes after a look at a record, if that is to send something.
    init?(of action: RenewalStateMachine.InsideAction, by machine: RenewalStateMachine, _ record: CredentialRecord?) {
        guard machine.isSending else { return nil }
        if case .sendGrant = action { self = .grant(SessionMark(record?.credential)) } else { self = .turn }
    }
}

/// What tells one session in a store from another.
///
/// Not the whole credential: what a store makes of a date need not be equal to the last digit, and a loader with
/// another key writes its token into the same session.
private struct SessionMark: Equatable, Sendable {
    private let subject: String?
    private let refreshToken: String?
    private let accessToken: String?

    init(_ credential: Credential?) {
        subject = credential?.subject
        refreshToken = credential?.refreshToken
        accessToken = credential?.accessToken?.value
    }
}

/// What a load has of it; an object, which is small in the frames of those that wait.
private final class Means: Sendable {
    /// A grant, and the session that was in the store when it was made.
    typealias Grant = (grant: TokenGrant, session: SessionMark)

    let turn: ExchangeGate.Turn?
    let grant: Grant?
    /// Whether the load has the place of its store in the line, which is to be left when it has ended.
    let hasPlace: Bool

    init(turn: ExchangeGate.Turn? = nil, grant: Grant? = nil, hasPlace: Bool = false) {
        self.turn = turn
        self.grant = grant
        self.hasPlace = hasPlace
    }
}

/// A load would exchange something, and lacks what that needs.
private struct MeansNeeded: Error {
    let need: Need
    /// It goes on where it was: what it has waited for is not waited for again.
    let machine: RenewalStateMachine
}

/// A load under way: its machine, and the memory that it shares with others.
private final class RunningLoad: Sendable {
    private let machine: Locked<RenewalStateMachine>
    private let memory: SharedLoaderMemory
    let turn: ExchangeGate.Turn?
    private let mayRenew: Bool
    let grant: Means.Grant?
    private let need = Locked<Need?>(nil)

    init(
        _ machine: RenewalStateMachine,
        _ memory: SharedLoaderMemory,
        _ turn: ExchangeGate.Turn?,
        mayRenew: Bool,
        _ grant: Means.Grant?
    ) {
        self.machine = Locked(machine)
        self.memory = memory
        self.turn = turn
        self.mayRenew = mayRenew
        self.grant = grant
    }

    /// What the load goes on with only, and has left the store as it was.
    var needed: MeansNeeded? {
        need.withLock { $0 }.map { need in MeansNeeded(need: need, machine: machine.withLock { $0 }) }
    }

    func decide<Action: Sendable>(
        _ input: (inout RenewalStateMachine, inout LoaderMemory) -> Action
    ) -> Action {
        memory.withLock { memory in machine.withLock { input(&$0, &memory) } }
    }

    /// The load has looked at the record; `nil` if it lacks what it needs: then it has done nothing.
    func entered(_ record: CredentialRecord?, at now: Date) -> RenewalStateMachine.InsideAction? {
        decide { machine, memory -> RenewalStateMachine.InsideAction? in
            var (next, nextMemory) = (machine, memory)
            let action = next.entered(record, &nextMemory, at: now)
            let need = Need(of: action, by: next, record)
            guard has(need) else {
                self.need.withLock { $0 = need }
                return nil
            }
            (machine, memory) = (next, nextMemory)
            return action
        }
    }

    private func has(_ need: Need?) -> Bool {
        switch need {
        case nil: true
        case .turn: mayRenew
        case .grant(let session): grant?.session == session
        }
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
