import AccessTokenCore
import Foundation

/// Every decision of one load of an ``OAuthLoader``, and nothing else: no store, no server, no time of its own.
///
/// An input is a past event. It changes the state, and returns what the loader has to do. What outlives the load is in the
/// ``LoaderMemory``, which each input gets.
///
/// | state | what is true | next state |
/// | --- | --- | --- |
/// | `looking` | this load has sent nothing, and waits for the exclusion | any but `announced` |
/// | `announcing` | the note that the token will be sent is on its way into the store | `announced`; `looking` if it was not taken |
/// | `announced` | the note is in the store | `sending`; as `looking` if somebody has written since |
/// | `sending` | the request is under way, and the load has the exclusion | `settled` |
/// | `settled` | the outcome is decided, and its change is on its way into the store | `ended`; `looking` if it was not taken |
/// | `ended` | the load has its result | |
struct RenewalStateMachine: Sendable {
    enum State: Sendable {
        case looking
        case announcing(SentNote)
        case announced(SentNote, version: Int)
        case sending(SentNote?, CredentialRecord?)
        case settled(CredentialChange, Outcome)
        case ended
    }

    /// What one look at the record came to.
    enum Outcome: Sendable {
        case answer(AccessToken)
        case failure(any Error)
        /// The record was brought up to date: look again.
        case again
        /// Somebody else may get a reply: look again after a while.
        case wait
    }

    struct Settings: Sendable {
        /// Whether there is a grant to exchange where there is no refresh token.
        let hasGrant: Bool
        /// Seconds before its expiration from which on a stored token is not adopted.
        let leeway: TimeInterval
        /// Seconds after which no reply to a request can come any more.
        let patience: TimeInterval
        /// Seconds in which a refresh token is sent twice at most while its requests are lost.
        let quietTime: TimeInterval
        /// That of the store.
        let takeOverDelay: TimeInterval
    }

    /// Seconds between two looks while somebody else waits for a reply.
    static let pause: TimeInterval = 0.25
    /// Attempts to save what the server issued, before the error goes to the callers.
    static let mostSaves = 3
    /// Looks that ended with a change which the store did not take, or which made another look necessary.
    static let mostLooks = 8

    let old: AccessToken?
    let settings: Settings
    private(set) var state = State.looking
    /// Whether somebody waits for the result.
    private var isWanted = true
    private var brought: AccessToken?
    private var failedSaves = 0
    private var looks = 0
    /// The note for which this load has waited, and for how long.
    private var waited: (note: SentNote, seconds: TimeInterval)?
    private var unheard: [any Error] = []
    private var worthless: [Credential] = []

    init(replacing old: AccessToken?, _ settings: Settings) {
        self.old = old
        self.settings = settings
    }

    // MARK: Inside the exclusion

    enum InsideAction: Sendable {
        case leave(CredentialChange)
        case send(refreshToken: String)
        case sendGrant
    }

    /// The load has the exclusion, and has read the record.
    mutating func entered(_ record: CredentialRecord?, _ memory: inout LoaderMemory, at now: Date) -> InsideAction {
        if case .announced(let note, let version) = state {
            if let record, record.version == version, let refreshToken = record.credential.refreshToken {
                state = .sending(note, record)
                return .send(refreshToken: refreshToken)
            }
            memory.sending.remove(note.number)
        }
        if let record, record.credential.isSame(as: memory.ended) {
            return leave(.remove, .failure(AccessTokenError.signedOut))
        }
        if let unsaved = unsaved(on: record, &memory) {
            // A token that this very load brought is its answer, however short it lives.
            let token = unsaved.accessToken.flatMap { $0 == brought ? $0 : nil }
            return leave(.replace(unsaved), token.map { .answer($0) } ?? .again)
        }
        if let token = adoptable(record, at: now) { return leave(.keep, .answer(token)) }
        guard isWanted else { return leave(.keep, .failure(OAuthError.timedOut)) }
        guard let record, let refreshToken = record.credential.refreshToken else {
            guard settings.hasGrant else { return leave(.keep, .failure(AccessTokenError.signedOut)) }
            state = .sending(nil, record)
            return .sendGrant
        }
        return renew(record, refreshToken, &memory, at: now)
    }

    private mutating func renew(
        _ record: CredentialRecord,
        _ refreshToken: String,
        _ memory: inout LoaderMemory,
        at now: Date
    ) -> InsideAction {
        switch verdict(on: record.credential.note, memory, at: now) {
        case .refused(isOver: true): return leave(.remove, refusal)
        case .refused(isOver: false): return leave(.keep, .failure(OAuthError.refused("invalid_grant")))
        case .lost(let error) where memory.refused != refreshToken: return leave(.keep, .failure(error))
        case .lost: return leave(.remove, refusal)
        case .awaited(let note):
            if waited?.note.isSame(as: note) != true { waited = (note, 0) }
            return leave(.keep, .wait)
        case .send where memory.refused == refreshToken: return leave(.remove, refusal)
        case .send(let count, let hasRival):
            memory.exchanges += 1
            guard settings.takeOverDelay > 0 else {
                state = .sending(nil, record)
                return .send(refreshToken: refreshToken)
            }
            memory.sending.insert(memory.exchanges)
            let note = SentNote(
                sender: memory.process,
                number: memory.exchanges,
                count: count,
                hasRival: hasRival,
                sent: now,
                patience: settings.patience
            )
            state = .announcing(note)
            return .leave(.replace(record.credential.noting(note)))
        }
    }

    private enum Verdict {
        case send(count: Int, hasRival: Bool)
        case awaited(SentNote)
        case lost(OAuthError)
        case refused(isOver: Bool)
    }

    /// Whether a refresh token may be sent, by what the record says of earlier requests.
    private func verdict(on note: SentNote?, _ memory: LoaderMemory, at now: Date) -> Verdict {
        guard let note else { return .send(count: 1, hasRival: false) }
        switch note.outcome {
        case .refused:
            return .refused(isOver: settings.hasGrant || note.isOlder(than: note.patience, at: now))
        case .lost:
            if note.isOlder(than: settings.quietTime, at: now) { return .send(count: 1, hasRival: note.hasRival) }
            // Once more is right: it succeeds if the token is unspent. A third time only looks like theft.
            if note.count < 2 { return .send(count: note.count + 1, hasRival: note.hasRival) }
            let left = settings.quietTime - now.timeIntervalSince(note.sent)
            return .lost(.unavailable(status: 504, retryAfter: left.rounded(.up)))
        case .awaited where note.sender == memory.process:
            // Its end could not be written down, unless it is under way.
            if memory.sending.contains(note.number) { return .awaited(note) }
            return .send(count: note.count + 1, hasRival: note.hasRival)
        case .awaited:
            let waited = waited.flatMap { $0.note.isSame(as: note) ? $0.seconds : nil } ?? 0
            let isOver = waited >= settings.takeOverDelay || note.isOlder(than: note.patience, at: now)
            return isOver ? .send(count: note.count + 1, hasRival: true) : .awaited(note)
        }
    }

    // MARK: Answers

    /// What came of a request.
    enum Answer: Sendable {
        /// The server issued a credential, perhaps with an access token that cannot be used.
        case issued(Credential, Result<AccessToken, OAuthError>)
        case failed(any Error)
        /// A sign-in or a sign-out of this process ends the session, and does not wait any longer.
        case givenUp
    }

    /// The exchange is over.
    ///
    /// - Parameter present: the record after a refusal, where it could be read.
    mutating func answered(
        _ answer: Answer,
        present: CredentialRecord? = nil,
        _ memory: inout LoaderMemory
    ) -> CredentialChange {
        guard case .sending(let note, let record) = state else { return .keep }
        if let note { memory.sending.remove(note.number) }
        switch answer {
        case .issued(let credential, let result):
            memory.unsaved = LoaderMemory.Unsaved(credential: credential, base: record?.credential)
            memory.lost = nil
            brought = try? result.get()
            switch result {
            case .success(let token): return settle(.replace(credential), .answer(token))
            case .failure(let error): return settle(.replace(credential), .failure(error))
            }
        case .givenUp:
            return settle(.keep, .failure(AccessTokenError.signedOut))
        case .failed(let error):
            guard let record, let refreshToken = record.credential.refreshToken else {
                return settle(.keep, .failure(error))
            }
            guard let failure = error as? OAuthError, failure.requiresSignIn else {
                let isLost = (error as? OAuthError)?.mayHaveBeenCarriedOut == true
                if isLost { memory.lost = memory.lost ?? error as? OAuthError }
                guard let note else { return settle(.keep, .failure(error)) }
                let left = isLost || note.hasRival ? note.with(.lost) : nil
                return settle(.replace(record.credential.noting(left)), .failure(error))
            }
            memory.refused = refreshToken
            // The refusal hides what came first: the reply to the request before was lost.
            if let lost = memory.lost.take() { unheard.append(lost) }
            // A peer may have rotated it all the same, in a store whose exclusion can be lost.
            if let present, present.version != record.version { return settle(.keep, .again) }
            // The successor may be on its way to somebody else, and beats the removal.
            if let note, note.hasRival, !settings.hasGrant {
                return settle(.replace(record.credential.noting(note.with(.refused))), .failure(failure))
            }
            return settle(.remove, settings.hasGrant ? .again : .failure(failure))
        }
    }

    // MARK: Outside the exclusion

    enum OutsideAction: Sendable {
        case enter
        case pause(TimeInterval)
        case end(Result<AccessToken, any Error>)
    }

    /// The update is over.
    ///
    /// - Parameter present: the record if the load was not let in, where it could be read.
    mutating func left(
        _ result: Result<CredentialRecord?, any Error>,
        present: CredentialRecord? = nil,
        _ memory: inout LoaderMemory,
        at now: Date
    ) -> OutsideAction {
        switch (state, result) {
        case (.announcing(let note), .success(let record?)) where note.isSame(as: record.credential.note ?? note):
            state = .announced(note, version: record.version)
            return .enter
        case (.announcing(let note), .success), (.announcing(let note), .failure(CredentialStoreError.superseded)):
            memory.sending.remove(note.number)
            return lookAgain()
        case (.announcing(let note), .failure(let error)):
            // What came could not be saved either, so that nothing is sent.
            memory.sending.remove(note.number)
            return end(.failure(error))
        case (.settled(let change, let outcome), .success(let record)):
            guard isTaken(change, record) else { return lookAgain() }
            if case .replace(let credential) = change, credential == memory.unsaved?.credential { memory.unsaved = nil }
            switch outcome {
            case .answer(let token): return end(.success(token))
            case .failure(let error): return end(.failure(error))
            case .again: return lookAgain()
            case .wait:
                state = .looking
                waited?.seconds += Self.pause
                return .pause(Self.pause)
            }
        case (.settled(_, let outcome), .failure(let error)):
            failedSaves += 1
            // The exchange is not repeated: what it brought stays in memory, for the next attempt or the next load.
            if memory.unsaved != nil, failedSaves < Self.mostSaves { return lookAgain() }
            guard case .failure(let first) = outcome else { return end(.failure(error)) }
            // What the server says is of more use to callers than that it could not be written down.
            unheard.append(error)
            return end(.failure(first))
        case (_, .failure(let error)):
            if case .announced(let note, _) = state { memory.sending.remove(note.number) }
            // Whoever is inside and does not let us in may have written what we want.
            return end(adoptable(present, at: now).map { .success($0) } ?? .failure(error))
        case (_, .success):
            return end(.failure(CredentialStoreError.busy))
        }
    }

    /// The caller is answered that its time is over: a load that has sent nothing has nothing to do any more.
    mutating func deadlinePassed() { isWanted = false }

    /// What nobody hears of, and credentials of a session that has ended; each once.
    mutating func takeLeftovers() -> (errors: [any Error], credentials: [Credential]) {
        defer { (unheard, worthless) = ([], []) }
        return (unheard, worthless)
    }

    // MARK: Parts

    private var refusal: Outcome {
        settings.hasGrant ? .again : .failure(OAuthError.refused("invalid_grant"))
    }

    private mutating func settle(_ change: CredentialChange, _ outcome: Outcome) -> CredentialChange {
        state = .settled(change, outcome)
        return change
    }

    private mutating func leave(_ change: CredentialChange, _ outcome: Outcome) -> InsideAction {
        .leave(settle(change, outcome))
    }

    private mutating func end(_ result: Result<AccessToken, any Error>) -> OutsideAction {
        state = .ended
        return .end(result)
    }

    private mutating func lookAgain() -> OutsideAction {
        looks += 1
        guard looks < Self.mostLooks else { return end(.failure(CredentialStoreError.busy)) }
        state = .looking
        return .enter
    }

    /// What is to be saved in the place of this record; it is forgotten if something newer is there.
    private mutating func unsaved(on record: CredentialRecord?, _ memory: inout LoaderMemory) -> Credential? {
        guard let unsaved = memory.unsaved else { return nil }
        // Others may have noted that they sent the same token: that is nothing newer.
        if record.map({ $0.credential.isSame(as: unsaved.base) }) ?? (unsaved.base == nil) { return unsaved.credential }
        memory.unsaved = nil
        // Of a session that has ended nothing is left behind. (In a newer record it may be that record's family.)
        if record == nil { worthless.append(unsaved.credential) }
        return nil
    }

    /// By value: what a store makes of a date need not be equal to the last digit.
    private func adoptable(_ record: CredentialRecord?, at now: Date) -> AccessToken? {
        guard let credential = record?.credential, credential.accessToken?.value != old?.value,
            credential.isUsable(at: now, leeway: settings.leeway)
        else { return nil }
        return credential.accessToken
    }

    /// Whether the store did as it was told: one that has lost its exclusion keeps what a peer wrote meanwhile.
    private func isTaken(_ change: CredentialChange, _ record: CredentialRecord?) -> Bool {
        switch change {
        case .keep: true
        case .remove: record == nil
        case .replace(let credential): record?.credential.isSame(as: credential) == true
        }
    }
}
