import AccessTokenCore
import AccessTokenSynchronization
import Foundation

/// What the loaders of a store know beyond the store, until the store knows it or it is worthless.
///
/// Some of it the process owes the store: ``isOwing``. See ``OAuthLoader/payLater()``.
struct LoaderMemory: Sendable {
    /// A credential that the server issued and the store has not taken yet.
    struct Unsaved: Hashable, Sendable {
        let credential: Credential
        /// What it takes the place of, and of nothing newer; `nil` if there was no record.
        let base: Credential?

        /// Whether the store has what this takes the place of.
        ///
        /// Others may have noted that they sent the same token: that is nothing newer.
        func belongs(on record: CredentialRecord?) -> Bool {
            record.map { $0.credential.isSame(as: base) } ?? (base == nil)
        }
    }

    /// A session that has ended, and whose record is still to be removed.
    struct Ended: Hashable, Sendable {
        /// The tokens of the session, as far as this process knows them.
        let session: SessionMark?
        /// When the session ended, if the record could not be read then.
        let unread: Date?
        /// That of the loader: the session of another user goes on.
        let subject: String?
        /// The session of a sign-in that came afterwards, from the moment at which the store may have it.
        var next: SessionMark?

        /// Whether a record is of this session, and not of one that began later.
        ///
        /// A record that nobody could read is told by its date. One without a date is removed: to sign in once more is
        /// better than a session that comes back.
        func covers(_ credential: Credential) -> Bool {
            guard !credential.isOfAnother(than: subject), next?.isOf(credential) != true else { return false }
            if session?.isOf(credential) == true { return true }
            return unread.map { (credential.obtained ?? .distantPast) <= $0 } ?? false
        }
    }

    /// Identifies the loaders that share this memory.
    ///
    /// Others, even in this process, do not know which requests run here.
    var process = UInt64.random(in: 0 ... .max)
    @Seldom var unsaved: Unsaved?
    /// The requests of this process that were announced in the record and are not settled.
    var sending: Set<Int> = []
    /// The last refresh token that the server refused, in case that it could not be removed.
    @Seldom var refused: String?
    /// The refresh token that is not to be sent, in case that the store keeps no notes.
    @Seldom var held: HeldToken?
    /// What was seen of the sender of another process's note.
    @Seldom var watch: SenderWatch?
    /// The first failure of the present refresh token after which the server may have spent it.
    var lost: (any Error)?
    /// The session that has ended here, until its record is removed.
    @Seldom var ended: Ended?
    /// Whether the store has not taken what is known of the present refresh token: a refusal or a hold.
    var isUnwritten = false
    /// Whether the store leaves out what a record says against its refresh token: then only this process knows.
    var dropsNotes = false
    /// The session that the store had when this process looked last; a sign-out revokes it when the store is away.
    var seen: SessionMark?
    /// How many refresh tokens were sent.
    var exchanges = 0
    /// Changes when a session ends here, and when the store has taken a sign-in.
    var epoch = 0

    /// Whether the store has not taken something that it can take.
    var isUnpaid: Bool { unsaved != nil || ended != nil || isUnwritten }

    /// Whether this process knows something that would be lost with this memory.
    var isOwing: Bool { isUnpaid || dropsNotes && held != nil }

    /// Whether a record is of a session that has ended here: no load sends its tokens, or hands them out.
    func hasEnded(_ record: CredentialRecord?) -> Bool { record.flatMap { ended?.covers($0.credential) } ?? false }

    /// Forgets the ended session where its record is gone, or another session's is there.
    mutating func forgetEnded(by record: CredentialRecord?) { if !hasEnded(record) { ended = nil } }

    /// A session begins: what is known against earlier ones, told by tokens or dates, is not known against this one.
    ///
    /// Inside the exclusion, before the store has it: the next load may look before the sign-in returns.
    mutating func begins(_ session: SessionMark) {
        ended?.next = session
        let refreshToken = session.credential.refreshToken
        if refused == refreshToken { refused = nil }
        if held?.refreshToken == refreshToken { held = nil }
    }

    /// Whether what the store has not taken is another user's.
    func isOfAnother(than subject: String?) -> Bool {
        let subjects = [unsaved?.credential.subject, ended?.subject, ended?.session?.credential.subject]
        return subjects.contains { $0.isAnother(than: subject) }
    }

    /// Forgets what a record that was read inside of the exclusion makes pointless.
    ///
    /// - Returns: the credential of a session that has ended, which nothing of is left behind.
    mutating func looked(at record: CredentialRecord?, _ now: Date) -> Credential? {
        if let held, held.isPointless(for: record, unsaved, at: now) { self.held = nil }
        forgetEnded(by: record)
        if isUnwritten {
            let token = record?.credential.refreshToken
            isUnwritten = token != nil && (token == refused || token == held?.refreshToken)
        }
        guard let unsaved, !unsaved.belongs(on: record) else { return nil }
        self.unsaved = nil
        // The newer record may be of the same grant at the server, even if it is of another sign-in. A revocation could
        // end that session.
        return record == nil ? unsaved.credential : nil
    }

    /// The store has taken a change.
    mutating func took(_ change: CredentialChange, leaving record: CredentialRecord?) {
        switch change {
        case .keep: return
        case .remove: ended = nil
        case .replace(let credential):
            if credential == unsaved?.credential { unsaved = nil }
            if credential.note?.hold != nil {
                dropsNotes = record?.credential.note?.hold == nil
                // The record says it from now on, and another process may decide about it there.
                if !dropsNotes { held = nil }
            }
        }
        isUnwritten = false
    }

    /// What this process knows against sending a refresh token.
    func holds(on refreshToken: String?) -> [DatedHold] {
        held.flatMap { refreshToken.isExactly($0.refreshToken) ? $0.holds : nil } ?? []
    }

    /// The refresh token was exchanged for a key: the holds of other keys are those of its successor.
    mutating func passHolds(from old: String?, to new: String?, besides key: String?, at now: Date) {
        let holds = holds(on: old).lasting(besides: key, at: now)
        held = new.flatMap { holds.isEmpty ? nil : HeldToken(refreshToken: $0, holds: holds) }
    }

    /// Forgets a session; numbers go on, and requests that are under way end by themselves.
    mutating func forget() {
        self = LoaderMemory(process: process, sending: sending, exchanges: exchanges, epoch: epoch + 1)
    }
}

/// The memory of all loaders of one store in this process, or of all stores of one place.
///
/// What one loader has sent, or could not save, the others must know: they would send a spent refresh token.
final class SharedLoaderMemory: Sendable {
    private struct Entry: Sendable {
        // Swift 6.2.0 to 6.2.2 have no `weak let`.
        weak var memory: SharedLoaderMemory?
        /// The store whose identity is the key.
        ///
        /// An account keeps a memory for its next service. The store may be freed meanwhile, and another one may be
        /// made at its address.
        weak var object: (any CredentialStore & AnyObject)?
        let identity: ObjectIdentifier
    }

    private enum Key: Hashable, Sendable {
        case place(ExactString)
        case object(ObjectIdentifier)
    }

    private static let known = Locked<[Key: Entry]>([:])

    /// How many stores have an entry here.
    static var count: Int { known.withLock { $0.count } }

    private let key: Key?
    /// Tells the stores of one account apart, where nothing else does.
    let storeType: ObjectIdentifier
    private let memory = Locked(LoaderMemory())
    /// The waits for replies in this process: a sign-in or a sign-out, which ends their session, ends them.
    let replies = RunningRequests()
    /// One place for each key in the line of an endpoint, for all loads of one store.
    ///
    /// A service whose load has waited for too long begins another one at its next call. Without this, a user's loads
    /// would be in line many times, and all but one of them for nothing.
    let places = KeyedMutex<ExactString?>()

    /// The memory of a store that is an object, or has a place; a new one for a value, which has no identity.
    static func of(_ store: any CredentialStore) -> SharedLoaderMemory {
        if let store = store as? any PlacedCredentialStore {
            return of(.place(ExactString(store.memoryName)), store)
        } else if type(of: store) is any AnyObject.Type, let object = store as? any CredentialStore & AnyObject {
            return AccountMemories.memory(of: store) { of(.object(ObjectIdentifier(object)), store, object) }
        } else {
            return AccountMemories.memory(of: store) { SharedLoaderMemory(key: nil, store) }
        }
    }

    private static func of(
        _ key: Key,
        _ store: any CredentialStore,
        _ object: (any CredentialStore & AnyObject)? = nil
    ) -> SharedLoaderMemory {
        known.withLock { known in
            // The memory is looked up last: whatever is retained here is returned, and never released under the lock.
            if let entry = known[key], entry.object === object, let memory = entry.memory { return memory }
            let memory = SharedLoaderMemory(key: key, store)
            known[key] = Entry(memory: memory, object: object, identity: ObjectIdentifier(memory))
            return memory
        }
    }

    private init(key: Key?, _ store: any CredentialStore) {
        self.key = key
        storeType = ObjectIdentifier(type(of: store))
    }

    /// Whether the store has not taken something yet.
    var isOwing: Bool { withLock { $0.isOwing } }

    deinit {
        guard let key else { return }
        // The entry may name a newer memory by now. It is compared by identity and never retained: releasing it here
        // could run this `deinit` under the lock.
        Self.known.withLock { if $0[key]?.identity == ObjectIdentifier(self) { $0[key] = nil } }
    }

    func withLock<Result: Sendable>(_ body: (inout LoaderMemory) -> Result) -> Result {
        memory.withLock { body(&$0) }
    }
}

/// A refresh token that is not to be sent, for stores that keep no notes.
struct HeldToken: Hashable, Sendable {
    let refreshToken: String
    let holds: [DatedHold]

    /// Whether nobody would send the token any more, or the holds are over.
    func isPointless(for record: CredentialRecord?, _ unsaved: LoaderMemory.Unsaved?, at now: Date) -> Bool {
        let present = [record?.credential.refreshToken, unsaved?.credential.refreshToken]
        guard present.contains(where: { $0.isExactly(refreshToken) }) else { return true }
        return holds.allSatisfy { dated in
            dated.hold.isOver(after: now.timeIntervalSince(dated.since), takesType: { _ in false })
        }
    }
}
