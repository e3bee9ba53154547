import AccessTokenSynchronization
import Foundation

@testable import AccessTokenOAuth

/// A store in memory whose updates fail, take longer or do something else when a test says so.
final class TroubledStore: CredentialStore {
    struct Trouble: Error, Hashable {}

    private struct State {
        var failures = 0
        var isBusy = false
        var obstacle: CredentialStoreError?
        var updates = 0
        var afterUpdate: (@Sendable () async throws -> Void)?
        var blindCalls = 0
        var onSight: (@Sendable () async throws -> Void)?
    }

    let base: MemoryCredentialStore
    let takeOverDelay: TimeInterval
    private let state = Locked(State())

    /// - Parameter takeOverDelay: with one that is not 0, loads write notes.
    init(_ credential: Credential?, takeOverDelay: TimeInterval = 0) {
        base = MemoryCredentialStore(credential)
        self.takeOverDelay = takeOverDelay
    }

    /// How many updates have begun.
    var updates: Int { state.withLock { $0.updates } }

    /// Lets the next changes fail before they are written.
    func fail(_ count: Int) { state.withLock { $0.failures = count } }

    /// Lets nobody in from now on.
    func becomeBusy() { state.withLock { $0.isBusy = true } }

    /// Has no room for what an exchange may bring, but for what is known already, until this is called with `nil`.
    func obstruct(by error: CredentialStoreError?) { state.withLock { $0.obstacle = error } }

    /// What the next update does when it has let go of the exclusion, as one on a file or a database may take a while
    /// then.
    ///
    /// What is thrown there is the error of the update, which has written all the same.
    func afterUpdate(_ action: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.afterUpdate = action }
    }

    /// Lets the next calls fail, whatever they are; the one after them does `onSight` first.
    func goBlind(for calls: Int, then onSight: (@Sendable () async throws -> Void)? = nil) {
        state.withLock { ($0.blindCalls, $0.onSight) = (calls, onSight) }
    }

    private func look() async throws {
        let (isBlind, onSight) = state.withLock { state in
            state.blindCalls -= 1
            return (state.blindCalls >= 0, state.blindCalls >= 0 ? nil : state.onSight.take())
        }
        if isBlind { throw Trouble() }
        try await onSight?()
    }

    func load() async throws -> CredentialRecord? {
        try await look()
        return try await base.load()
    }

    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        try await look()
        let (isBusy, obstacle, afterUpdate) = state.withLock { state in
            state.updates += 1
            return (state.isBusy, state.obstacle, state.afterUpdate.take())
        }
        if isBusy { throw CredentialStoreError.busy }
        let record = try await base.update { record in
            let change = try await SavingObstacle.$current.withValue(obstacle) { try await body(record) }
            guard change != .keep else { return change }
            let fails = state.withLock { state in
                state.failures -= 1
                return state.failures >= 0
            }
            if fails { throw Trouble() }
            return change
        }
        try await afterUpdate?()
        return record
    }
}

/// A store that keeps tokens and dates only, as one of the app's own may, for all of its loaders.
final class NotelessStore: CredentialStore {
    private let base: MemoryCredentialStore

    init(_ credential: Credential) { base = MemoryCredentialStore(credential) }

    func load() async throws -> CredentialRecord? { try await base.load() }

    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        try await base.update { record in
            let change = try await body(record)
            guard case .replace(let credential) = change else { return change }
            return .replace(Credential(accessToken: credential.accessToken, refreshToken: credential.refreshToken))
        }
    }
}

extension CredentialStore {
    var credential: Credential? {
        get async throws { try await load()?.credential }
    }

    var refreshToken: String? {
        get async throws { try await load()?.credential.refreshToken }
    }

    var version: Int? {
        get async throws { try await load()?.version }
    }
}
