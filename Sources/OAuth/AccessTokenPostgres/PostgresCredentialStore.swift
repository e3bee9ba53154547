#if Postgres
import AccessTokenCore
import AccessTokenOAuth
import Foundation

/// The store of one account.
struct PostgresCredentialStore: PlacedCredentialStore {
    let stores: PostgresCredentialStores
    let account: String

    /// 5 seconds: a process that lives and whose connection was cut is seen again within one or two.
    var takeOverDelay: TimeInterval { 5 }

    var memoryName: String { stores.memoryName(of: account) }

    func load() async throws -> CredentialRecord? { try await stores.load(account) }

    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? { try await stores.update(account, body) }

    func reset(evenIfReadable: Bool) async throws {
        if !evenIfReadable, (try? await load()) != nil { return }
        try await stores.reset(account)
    }
}

extension PostgresCredentialStore: CustomStringConvertible, CustomReflectable {
    /// Where the credential is; never a secret.
    var description: String { "PostgresCredentialStore(\(stores.place(of: account)))" }

    /// A mirror without connection string, seal and credential: `dump` prints no secret.
    var customMirror: Mirror { Mirror(self, children: ["place": stores.place(of: account)], displayStyle: .struct) }
}

/// One update of an account at a time in this process, in the order in which they came.
final class AccountTurns: Sendable {
    private struct Turn {
        let mutex: AsyncMutex
        /// How many have the mutex or wait for it: while anybody does, newcomers must find the same one.
        var users = 0
    }

    private let waitLimit: TimeInterval
    private let clock: any AccessTokenClock
    private let turns = Locked<[String: Turn]>([:])

    init(waitLimit: TimeInterval, clock: any AccessTokenClock) {
        self.waitLimit = waitLimit
        self.clock = clock
    }

    /// Waits for the account's turn, which has to be ended.
    func begin(_ account: String) async throws -> AsyncMutex {
        let mutex = turns.withLock { turns in
            var turn = turns[account] ?? Turn(mutex: AsyncMutex(waitLimit: waitLimit, clock: clock))
            turn.users += 1
            turns[account] = turn
            return turn.mutex
        }
        do {
            try await mutex.lock()
            return mutex
        } catch {
            leave(account)
            throw error
        }
    }

    func end(_ mutex: AsyncMutex, of account: String) {
        mutex.unlock()
        leave(account)
    }

    private func leave(_ account: String) {
        turns.withLock { turns in
            turns[account]?.users -= 1
            if turns[account]?.users == 0 { turns[account] = nil }
        }
    }
}
#endif
