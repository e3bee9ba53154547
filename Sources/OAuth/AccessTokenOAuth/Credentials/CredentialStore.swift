public import Foundation

/// Where a credential is kept, for everybody who uses it: tasks, processes, machines.
///
/// Two requirements, since lock, read, check again, write, unlock is the only order in which a credential that rotates
/// can be shared. Sign-in and sign-out go through ``update(_:)`` as well.
///
/// A store promises:
/// 1. At most one body runs at a time, and it sees the record as it is at that moment.
/// 2. What a body replaces is durable before `update` returns and before the next body runs.
/// 3. The version is one more after each replacement and each removal, stays with `keep`, and never goes back.
/// 4. If the body throws, or its process dies, nothing is written and the next one may go in.
/// 5. ``load()`` neither waits for a body nor gets half of a record.
/// 6. Waiting has an end: ``CredentialStoreError/busy``, and the body was not run.
/// 7. A body that has lost the exclusion writes nothing if the version has changed since: a removal stays a removal.
public protocol CredentialStore: Sendable {
    /// The record, complete; waits for no lock. `nil` means signed out.
    func load() async throws -> CredentialRecord?

    /// Runs `body` while no other task, process or machine is inside, with the record as it is then, and does what it
    /// returns.
    ///
    /// **Concurrency** Do not call it for the same store from inside `body`: that waits for itself until it is busy.
    ///
    /// **Cancellation** A cancelled task that waits throws `CancellationError`, and its body is not run. A body that
    /// runs is its own task's matter, and is written all the same.
    ///
    /// **Failure** Throws what `body` throws, and then has written nothing; ``CredentialStoreError/busy``; or an error
    /// of its own, and then may have written or not.
    ///
    /// - Returns: the record as it is afterwards.
    @discardableResult
    func update(_ body: CredentialUpdate) async throws -> CredentialRecord?

    /// For how many seconds others have to find a process gone before they know that it is dead.
    ///
    /// A process that finds the note of another one, which was going to send the refresh token, waits until it has seen
    /// no sign of that one for so long, at each of its looks, and then sends the token again. Being let in means that
    /// the other one is gone, unless the store knows better.
    /// - `.infinity`, unless a store says otherwise: a holder that lives may lose the exclusion, as that of a lease
    ///   does. Then only the age of the note ends the wait, after five times the deadline of the endpoint. The clocks
    ///   of all machines that share the store must agree to within a few seconds: a clock that is off by the whole wait
    ///   ends it at once, and the refresh token is sent a second time.
    /// - A few seconds: only death ends the exclusion, or the holder takes it again at once.
    /// - 0: the record ends with the process. No notes are written.
    var takeOverDelay: TimeInterval { get }
}

extension CredentialStore {
    /// `.infinity`: a store that says nothing is taken for one whose exclusion can be lost.
    public var takeOverDelay: TimeInterval { .infinity }
}

/// A store that others of this process may open a second time: the loaders of all openings are to know the same.
package protocol PlacedCredentialStore: CredentialStore {
    /// The same for all stores of one credential.
    var memoryName: String { get }

    /// Removes whatever is there, or only what cannot be read.
    func reset(evenIfReadable: Bool) async throws
}

/// Tells a loader, inside of a body, that the store could not save what an exchange brings.
///
/// A store of the app's own may stand between the two. A body that only removes or saves goes on.
enum SavingObstacle {
    /// What the store would throw; `nil` if the store knows of no obstacle.
    @TaskLocal static var current: CredentialStoreError?
}

/// Decides what becomes of a record: the closure that ``CredentialStore/update(_:)`` takes.
///
/// The type has a name because a module whose async functions hop by default, as they do without the upcoming feature
/// `NonisolatedNonsendingByDefault`, would otherwise read it as another type, and could not implement the protocol.
public typealias CredentialUpdate =
    nonisolated(nonsending) @Sendable (CredentialRecord?) async throws ->
    CredentialChange

/// A credential as it is in a store, with the version that it has there.
public struct CredentialRecord: Hashable, Sendable, Codable {
    /// The credential.
    public let credential: Credential

    /// One more with each replacement and each removal, and never less than before.
    public let version: Int

    /// Creates a record, for stores.
    public init(credential: Credential, version: Int) {
        self.credential = credential
        self.version = version
    }
}

/// What is to become of the credential in a store.
public enum CredentialChange: Hashable, Sendable {
    /// It stays as it is, and so does its version.
    case keep
    /// This one takes its place, or begins a session.
    case replace(Credential)
    /// The session has ended.
    case remove
}
