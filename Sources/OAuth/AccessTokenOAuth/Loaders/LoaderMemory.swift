import AccessTokenSynchronization
import Foundation

/// What the loaders of a store know beyond the store, until the store knows it or it is worthless.
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

    /// Tells those who share this memory from all others, also in this process: they do not know what is under way
    /// here.
    var process = UInt64.random(in: 0 ... .max)
    @Seldom var unsaved: Unsaved?
    /// The requests of this process that were announced in the record and are not settled.
    var sending: Set<Int> = []
    /// The last refresh token that the server refused, in case that it could not be removed.
    var refused: String?
    /// The refresh token that is not to be sent, in case that the store keeps no notes.
    var held: HeldToken?
    /// The first failure of the present refresh token after which the server may have spent it.
    var lost: (any Error)?
    /// The credential of a session that has ended and whose record could not be removed.
    @Seldom var ended: Credential?
    /// Whether a session has ended whose record could not even be read.
    var hasEndedUnread = false
    /// How many refresh tokens were sent.
    var exchanges = 0

    /// What this process knows against sending a refresh token.
    func holds(on refreshToken: String?) -> [DatedHold] {
        held.flatMap { $0.refreshToken == refreshToken ? $0.holds : nil } ?? []
    }

    /// The refresh token was exchanged for a key: the holds of other keys are those of its successor.
    mutating func passHolds(from old: String?, to new: String?, besides key: String?, at now: Date) {
        let holds = holds(on: old).lasting(besides: key, at: now)
        held = new.flatMap { holds.isEmpty ? nil : HeldToken(refreshToken: $0, holds: holds) }
    }

    /// Forgets a session; numbers go on, and requests that are under way end by themselves.
    mutating func forget() {
        self = LoaderMemory(process: process, sending: sending, exchanges: exchanges)
    }
}

/// A value that is seldom there, and takes room only then: a server may have this memory for each of its users.
@propertyWrapper
struct Seldom<Value: Sendable>: Sendable {
    private indirect enum Box: Sendable {
        case value(Value)
    }

    private var box: Box?

    var wrappedValue: Value? {
        get { if case .value(let value) = box { value } else { nil } }
        set { box = newValue.map { .value($0) } }
    }

    init(wrappedValue: Value? = nil) { self.wrappedValue = wrappedValue }
}

/// The memory of all loaders of one store in this process, or of all stores of one place.
///
/// What one loader has sent, or could not save, the others must know: they would send a spent refresh token.
final class SharedLoaderMemory: Sendable {
    private struct Entry: Sendable {
        // Swift 6.2.0 to 6.2.2 have no `weak let`.
        weak var memory: SharedLoaderMemory?
        let identity: ObjectIdentifier
    }

    private enum Key: Hashable, Sendable {
        case place(String)
        case object(ObjectIdentifier)
    }

    private static let known = Locked<[Key: Entry]>([:])

    /// How many stores have an entry here.
    static var count: Int { known.withLock { $0.count } }

    private let key: Key?
    private let memory = Locked(LoaderMemory())
    /// The waits for replies in this process: a sign-in or a sign-out, which ends their session, ends them.
    let replies = RunningRequests()
    /// One place for each key in the line of an endpoint, for all loads of one store.
    ///
    /// A service whose load has waited for too long begins another one at its next call. Without this, a user's loads
    /// would be in line many times, and all but one of them for nothing.
    let places = KeyedMutex<String?>()

    /// The memory of a store that is an object, or has a place; a new one for a value, which has no identity.
    static func of(_ store: any CredentialStore) -> SharedLoaderMemory {
        let key: Key
        if let store = store as? any PlacedCredentialStore {
            key = .place(store.memoryName)
        } else if type(of: store) is any AnyObject.Type {
            // A loader keeps its store as long as its memory: no other store has this identity meanwhile.
            key = .object(ObjectIdentifier(store as AnyObject))
        } else {
            return SharedLoaderMemory(key: nil)
        }
        return known.withLock { known in
            if let entry = known[key], let memory = entry.memory { return memory }
            let memory = SharedLoaderMemory(key: key)
            known[key] = Entry(memory: memory, identity: ObjectIdentifier(memory))
            return memory
        }
    }

    private init(key: Key?) {
        self.key = key
    }

    deinit {
        guard let key else { return }
        // Another memory may have taken the place already. It is not touched here: it may go at this moment, under the
        // lock.
        Self.known.withLock { if $0[key]?.identity == ObjectIdentifier(self) { $0[key] = nil } }
    }

    func withLock<Result: Sendable>(_ body: (inout LoaderMemory) -> Result) -> Result {
        memory.withLock { body(&$0) }
    }
}
