import AccessTokenCore
import Foundation

/// Every decision of one load of an ``OAuthLoader``, and nothing else: no store, no server, no time of its own.
///
/// An input is a past event. It changes the state, and returns what the loader has to do. What outlives the load is in
/// the ``LoaderMemory``, which each input gets.
///
/// | state | what is true | next state |
/// | --- | --- | --- |
/// | `looking` | this load has sent nothing, and waits for the exclusion | any but `announced` |
/// | `announcing` | the note that the token will be sent is on its way into the store | `announced`; `looking` if it was not taken |
/// | `announced` | the note is in the store | `sending`; as `looking` if another process has written since |
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
        /// Another process may get a reply: look again after a while.
        case wait
    }

    struct Settings: Sendable {
        /// Whether there is a grant to exchange where there is no refresh token.
        let hasGrant: Bool
        /// Seconds before its expiration from which on a stored token is not adopted.
        let leeway: TimeInterval
        /// Seconds after which no reply to a request can come any more, unless the process was stopped.
        let patience: TimeInterval
        /// Seconds after which a request that was announced is not sent any more: a process may have been stopped.
        var longestAnnouncement = TimeInterval.infinity
        /// Seconds in which a refresh token is sent twice at most while its requests are lost.
        let quietTime: TimeInterval
        /// That of the store.
        let takeOverDelay: TimeInterval
        /// Under which the access token stands in the credential; `nil` is the credential's own.
        var key: String?
        /// Whether access tokens of a type are taken.
        var takesType: @Sendable (String) -> Bool = { _ in false }
        /// Whose credential the load is for; `nil` takes whatever is there.
        var subject: String?
    }

    /// Seconds between two looks while another process waits for a reply.
    static let pause: TimeInterval = 0.25
    /// Attempts to save what the server issued, before the error goes to the callers.
    static let mostSaves = 3
    /// Looks that ended with a change which the store did not take, or which made another look necessary.
    static let mostLooks = 8

    let old: AccessToken?
    let settings: Settings
    var state = State.looking
    /// Whether a caller waits for the result.
    var isWanted = true
    var brought: AccessToken?
    var failedSaves = 0
    var looks = 0
    /// The note for which this load has waited, and for how long.
    var waited: (note: SentNote, seconds: TimeInterval)?
    var unheard: [any Error] = []
    var worthless: [Credential] = []

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
            if let record, record.version == version, let refreshToken = record.credential.refreshToken,
                !note.isOlder(than: settings.longestAnnouncement, at: now)
            {
                state = .sending(note, record)
                return .send(refreshToken: refreshToken)
            }
            memory.sending.remove(note.number)
        }
        if let record, record.credential.isSame(as: memory.ended) {
            return leave(.remove, .failure(AccessTokenError.signedOut))
        }
        // Another user has signed in, perhaps in another process.
        if record?.credential.isOfAnother(than: settings.subject) == true {
            return leave(.keep, .failure(AccessTokenError.signedOut))
        }
        if let unsaved = unsaved(on: record, &memory) {
            // A token that this very load brought is its answer, however short it lives.
            let token = unsaved.accessToken(for: settings.key).flatMap { $0 == brought ? $0 : nil }
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
        if let hold = hold(on: refreshToken, record.credential, memory, at: now) {
            let isHopeless = settings.hasGrant && hold.isUntilDecided
            return isHopeless ? leave(.remove, .again) : leave(.keep, .failure(hold.error))
        }
        switch verdict(on: record.credential.note, memory, at: now) {
        case .refused(isOver: true): return leave(.remove, refusal)
        case .refused(isOver: false): return leave(.keep, .failure(OAuthError.refused("invalid_grant")))
        case .lost where memory.refused == refreshToken, .send where memory.refused == refreshToken:
            return leave(afterRefusal(of: record, record.credential.note), refusal)
        case .lost(let error): return leave(.keep, .failure(error))
        case .awaited(let note):
            if waited?.note.isSame(as: note) != true { waited = (note, 0) }
            return leave(.keep, .wait)
        case .send(let count, let hasRival):
            memory.exchanges += 1
            guard settings.takeOverDelay > 0 else {
                state = .sending(nil, record)
                return .send(refreshToken: refreshToken)
            }
            memory.sending.insert(memory.exchanges)
            let note = newNote(count: count, hasRival: hasRival, memory, at: now)
            state = .announcing(note)
            let others = record.credential.holdsLasting(besides: settings.key, at: now)
            return .leave(.replace(record.credential.holding(others).noting(note)))
        }
    }

    func newNote(count: Int, hasRival: Bool, _ memory: LoaderMemory, at now: Date) -> SentNote {
        SentNote(
            sender: memory.process,
            number: memory.exchanges,
            count: count,
            hasRival: hasRival,
            sent: now,
            patience: settings.patience
        )
    }

    /// Why a refresh token is not to be sent, by what the record or this process knows of the last reply to it.
    private func hold(
        on refreshToken: String,
        _ credential: Credential,
        _ memory: LoaderMemory,
        at now: Date
    ) -> Hold? {
        // Without a note that holds, this process may know more than it could write down.
        let known = credential.note?.hold == nil ? memory.holds(on: refreshToken) : []
        return (known + credential.holds).first { dated in
            let (hold, age) = (dated.hold, now.timeIntervalSince(dated.since))
            return (hold.isUntilDecided || hold.key == settings.key)
                && !hold.isOver(after: age, takesType: settings.takesType)
        }?.hold
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
        case .held:
            // That is over: see above.
            return .send(count: 1, hasRival: note.hasRival)
        case .refused:
            return .refused(isOver: settings.hasGrant || note.isOlder(than: note.patience, at: now))
        case .lost:
            if note.isOlder(than: settings.quietTime, at: now) { return .send(count: 1, hasRival: note.hasRival) }
            // Once more is right: it succeeds if the token is unspent. A third time only looks like theft.
            if note.count < 2 { return .send(count: note.nextCount, hasRival: note.hasRival) }
            let left = settings.quietTime - now.timeIntervalSince(note.sent)
            return .lost(.unavailable(status: 504, retryAfter: left.rounded(.up)))
        case .awaited where note.sender == memory.process:
            // Its end could not be written down, unless it is under way.
            if memory.sending.contains(note.number) { return .awaited(note) }
            return .send(count: note.nextCount, hasRival: note.hasRival)
        case .awaited:
            let waited = waited.flatMap { $0.note.isSame(as: note) ? $0.seconds : nil } ?? 0
            let isOver = waited >= settings.takeOverDelay || note.isOlder(than: note.patience, at: now)
            return isOver ? .send(count: note.nextCount, hasRival: true) : .awaited(note)
        }
    }

    // MARK: Parts

    var refusal: Outcome {
        settings.hasGrant ? .again : .failure(OAuthError.refused("invalid_grant"))
    }

    /// Removes the record of a refused token.
    ///
    /// Another process may still get the successor, which beats the removal: then the record stays, and says "refused".
    func afterRefusal(of record: CredentialRecord, _ note: SentNote?) -> CredentialChange {
        guard let note, note.hasRival, !settings.hasGrant else { return .remove }
        return .replace(record.credential.noting(note.with(.refused)))
    }

    mutating func settle(_ change: CredentialChange, _ outcome: Outcome) -> CredentialChange {
        state = .settled(change, outcome)
        return change
    }

    private mutating func leave(_ change: CredentialChange, _ outcome: Outcome) -> InsideAction {
        .leave(settle(change, outcome))
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
    func adoptable(_ record: CredentialRecord?, at now: Date) -> AccessToken? {
        guard let credential = record?.credential, !credential.isOfAnother(than: settings.subject),
            credential.isUsable(for: settings.key, at: now, leeway: settings.leeway),
            let token = credential.accessToken(for: settings.key), token.value != old?.value
        else { return nil }
        return token
    }
}
