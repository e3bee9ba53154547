import AccessTokenCore
import AccessTokenSynchronization

/// Hands what an account's former loaders owe their stores to the loaders of its next service.
///
/// A store of the app's own has no name by which two objects of it are known to be one. The accounts know: what they
/// make anew for an account is for the same stores.
final class AccountMemories: Sendable {
    private struct State {
        /// The memories of the former loaders, in the order in which those were made.
        var former: [SharedLoaderMemory]
        var made: [SharedLoaderMemory] = []
    }

    @TaskLocal private static var current: AccountMemories?

    private let state: Locked<State>

    private init(_ former: [SharedLoaderMemory]) { state = Locked(State(former: former)) }

    /// Makes a service; loaders that are made for it meanwhile know what the former ones owe.
    ///
    /// - Returns: the service, and the memories of its loaders.
    static func collect<Service>(
        after former: [SharedLoaderMemory],
        _ make: () -> Service
    ) -> (service: Service, memories: [SharedLoaderMemory]) {
        let collected = AccountMemories(former)
        let service = $current.withValue(collected, operation: make)
        return (service, collected.state.withLock { $0.made })
    }

    /// What the account's former loader owes its store, or else a new memory.
    ///
    /// A loader comes after the former one whose store has the same type, and the same place among those of that type.
    static func memory(of store: any CredentialStore, orNew new: () -> SharedLoaderMemory) -> SharedLoaderMemory {
        // What such a store has ends with it.
        guard let current, !(store is MemoryCredentialStore) else { return new() }
        let former = current.state.withLock { state in
            state.former.firstIndex { $0.storeType == ObjectIdentifier(type(of: store)) }.map {
                state.former.remove(at: $0)
            }
        }
        let memory = former.flatMap { $0.isOwing ? $0 : nil } ?? new()
        current.state.withLock { $0.made.append(memory) }
        return memory
    }
}
