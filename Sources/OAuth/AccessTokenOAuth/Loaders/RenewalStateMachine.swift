import AccessTokenCore
import Foundation

/// Every decision of one load of an ``OAuthLoader``, and nothing else: no store, no server, no time of its own.
///
/// An input is a past event. It changes the state, and returns what the loader has to do. What outlives the load is in
/// the ``LoaderMemory``, which each input gets. ``step(on:_:at:)`` says what a load does with a record, and changes
/// nothing: a load that looks at its store before it waits asks the same question.
///
/// | state | what is true | next state |
/// | --- | --- | --- |
/// | `looking` | this load has sent nothing, and waits for the exclusion | any but `announced` |
/// | `waiting` | this load would send, and lacks its turn or a grant | `looking`, when it has that |
/// | `announcing` | the note that the token will be sent is on its way into the store | `announced`; `looking` if it was not taken |
/// | `announced` | the note is in the store | `sending`; as `looking` if another process has written since |
/// | `sending` | the request is under way, and the load has the exclusion | `settled` |
/// | `settled` | the outcome is decided, and its change is on its way into the store | `ended`; `looking` if it was not taken |
/// | `ended` | the load has its result | |
struct RenewalStateMachine: Sendable {
    enum State: Sendable {
        case looking
        case waiting(Need)
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
        /// Whether a load needs a turn before it sends; code of the app's own has no line.
        var sendsByTurn = true
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
    /// Looks that made another look necessary: the store did not take a change, or has another user each time.
    static let mostLooks = 8

    let old: AccessToken?
    let settings: Settings
    var state = State.looking {
        didSet { if case .sending = state { hasSent = true } }
    }
    private(set) var hasSent = false
    /// The number of the request that is under way, if a note announces it.
    var numberUnderWay: Int? { if case .sending(let note, _) = state { note?.number } else { nil } }
    /// Whether the last look has found a request of others that is not answered.
    var hasFoundRequest = false
    /// Whether a caller waits for the result.
    var isWanted = true
    var brought: AccessToken?
    var failedSaves = 0
    var looks = 0
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
    ///
    /// - Parameter has: whether the load has what it needs before it sends.
    mutating func entered(
        _ record: CredentialRecord?,
        _ memory: inout LoaderMemory,
        at now: Date,
        has: (Need) -> Bool = { _ in true }
    ) -> InsideAction {
        // A store that knows which processes live keeps the load inside after its note.
        if case .announcing(let note) = state, let record, note.isSame(as: record.credential.note) {
            state = .announced(note, version: record.version)
        }
        if case .announced(let note, let version) = state {
            if !memory.hasEnded(record), let record, record.version == version,
                let refreshToken = record.credential.refreshToken,
                !note.isOlder(than: settings.longestAnnouncement, at: now)
            {
                state = .sending(note, record)
                return .send(refreshToken: refreshToken)
            }
            memory.sending.remove(note.number)
        }
        if let record, memory.hasEnded(record), memory.ended?.session?.hasTokens(of: record.credential) != true {
            // Nobody could read it when the session ended, or another process has renewed it since: it was not revoked.
            worthless.append(record.credential)
        }
        if let credential = memory.looked(at: record, now) { worthless.append(credential) }
        if let note = record?.credential.note, isOfAnother(note, memory) {
            memory.watch = watch(on: note, memory, at: now)
        }
        let step = step(on: record, memory, at: now)
        // A hold may be over before the store has taken it: then nothing is owed any more.
        if !isWanted, case .settle(.keep, _) = step { memory.isUnwritten = false }
        if let need = need(of: step), !has(need) {
            state = .waiting(need)
            return .leave(.keep)
        }
        switch step {
        case .settle(let change, let outcome):
            return .leave(settle(change, outcome))
        case .awaitReply:
            return .leave(settle(.keep, .wait))
        case .sendGrant(let record):
            state = .sending(nil, record)
            return .sendGrant
        case .send(let refreshToken, let record, let count, let hasRival):
            return send(refreshToken, in: record, count: count, hasRival: hasRival, &memory, at: now)
        }
    }

    private mutating func send(
        _ refreshToken: String,
        in record: CredentialRecord,
        count: Int,
        hasRival: Bool,
        _ memory: inout LoaderMemory,
        at now: Date
    ) -> InsideAction {
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

    // MARK: Parts

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

    mutating func settle(_ change: CredentialChange, _ outcome: Outcome) -> CredentialChange {
        state = .settled(change, outcome)
        return change
    }
}
