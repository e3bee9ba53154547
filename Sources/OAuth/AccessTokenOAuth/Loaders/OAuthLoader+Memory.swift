import AccessTokenCore
import Foundation

/// What an OAuth loader knows beyond the store, until the store knows it or it is worthless.
struct LoaderMemory: Sendable {
    /// A credential that the server issued and the store has not taken yet.
    struct Unsaved: Sendable {
        let credential: Credential
        /// The version that it takes the place of: in the place of a newer one it would do harm.
        let base: Int?
    }

    /// A refresh token that was sent and not answered yet.
    struct Outstanding: Sendable {
        let number: Int
        let refreshToken: String
        let exchange: OutstandingExchange<TokenReply>
    }

    var unsaved: Unsaved?
    var outstanding: Outstanding?
    /// The last refresh token that the server refused, in case that it could not be removed.
    var refused: String?
    /// The version of a session that has ended and whose record could not be removed.
    var ended: Int?
    /// How many refresh tokens were sent.
    var exchanges = 0

    /// Forgets a session; numbers go on, so that a late reply is not taken for that of the next one.
    mutating func forget() {
        self = LoaderMemory(exchanges: exchanges)
    }
}

/// The memory of all loaders of one store in this process.
///
/// What one loader has sent, or could not save, the others must know: they would send a spent refresh token.
final class SharedLoaderMemory: Sendable {
    private struct Entry: Sendable {
        // Swift 6.2.0 to 6.2.2 have no `weak let`.
        weak var memory: SharedLoaderMemory?
    }

    private static let known = Locked<[ObjectIdentifier: Entry]>([:])

    /// How many stores have an entry here.
    static var count: Int { known.withLock { $0.count } }

    private let memory = Locked(LoaderMemory())

    /// The memory of a store that is an object; a new one for a store that is a value, which has no identity.
    static func of(_ store: any CredentialStore) -> SharedLoaderMemory {
        guard type(of: store) is any AnyObject.Type else { return SharedLoaderMemory() }
        // A loader keeps its store as long as its memory, so that no other store has this identity meanwhile.
        let identity = ObjectIdentifier(store as AnyObject)
        return known.withLock { known in
            if let memory = known[identity]?.memory { return memory }
            known = known.filter { $0.value.memory != nil }
            let memory = SharedLoaderMemory()
            known[identity] = Entry(memory: memory)
            return memory
        }
    }

    func withLock<Result: Sendable>(_ body: (inout LoaderMemory) -> Result) -> Result {
        memory.withLock { body(&$0) }
    }
}

extension OAuthLoader {
    /// Removes the credential, and then revokes it: what cannot be removed is to be worthless at least.
    ///
    /// A removal that fails is tried again. What is left after that is removed by the next load, which finds nobody
    /// signed in.
    func forget() async {
        let revoked = Locked<Credential?>(nil)
        for attempt in 1...Self.mostRemovals {
            do {
                try await store.update { record in
                    // After the first attempt there may be a new session, which is not to end.
                    guard attempt == 1 || record.map(self.hasEnded) == true else { return .keep }
                    let credential = self.endSession(with: record)
                    revoked.withLock { $0 = $0 ?? credential }
                    return record == nil ? .keep : .remove
                }
                memory.withLock { $0.ended = nil }
                break
            } catch {
                if attempt == 1, revoked.withLock({ $0 }) == nil {
                    let credential = endSession(with: try? await store.load())
                    revoked.withLock { $0 = credential }
                }
                guard attempt < Self.mostRemovals, (error as? CredentialStoreError) != .busy else {
                    onUnheardError?(error)
                    break
                }
            }
        }
        if let credential = revoked.withLock({ $0 }) { await revoke(credential) }
    }

    /// Attempts to remove the credential of a session that ends.
    private static let mostRemovals = 3

    func hasEnded(_ record: CredentialRecord) -> Bool {
        memory.withLock { $0.ended == record.version }
    }

    /// What is to be revoked of the session that ends; inside the exclusion, where the next one has not begun.
    private func endSession(with record: CredentialRecord?) -> Credential? {
        memory.withLock { memory in
            defer {
                memory.forget()
                memory.ended = record?.version
            }
            // What was issued and never saved is the successor of what is stored, unless that is newer.
            guard let unsaved = memory.unsaved, record == nil || unsaved.base == record?.version else {
                return record?.credential
            }
            return unsaved.credential
        }
    }

    func revoke(_ credential: Credential) async {
        do {
            if let refreshToken = credential.refreshToken {
                try await endpoint.revoke(refreshToken)
            } else if let accessToken = credential.accessToken {
                try await endpoint.revoke(accessToken.value, hint: "access_token")
            }
        } catch {
            onUnheardError?(error)
        }
    }
}
