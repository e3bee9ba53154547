import Foundation

@testable import AccessTokenOAuth

/// A store in memory that can be told to fail, and that tells what was written.
final class TroubledStore: CredentialStore {
    struct Trouble: Error, Hashable {}

    private struct State {
        var failuresBeforeWriting = 0
        var failuresAfterWriting = 0
        var changes: [CredentialChange] = []
    }

    let base: MemoryCredentialStore
    let takeOverDelay: TimeInterval
    private let state = Locked(State())
    private let onReplace: (@Sendable (Credential) async -> Void)?

    /// - Parameter takeOverDelay: with one that is not 0, loads write notes.
    init(
        _ credential: Credential?,
        takeOverDelay: TimeInterval = 0,
        onReplace: (@Sendable (Credential) async -> Void)? = nil
    ) {
        base = MemoryCredentialStore(credential)
        self.takeOverDelay = takeOverDelay
        self.onReplace = onReplace
    }

    /// What bodies asked for, other than to keep.
    var changes: [CredentialChange] { state.withLock { $0.changes } }

    var credential: Credential? {
        get async throws { try await base.load()?.credential }
    }

    func fail(_ count: Int) { state.withLock { $0.failuresBeforeWriting = count } }
    func failAfterWriting(_ count: Int) { state.withLock { $0.failuresAfterWriting = count } }

    func load() async throws -> CredentialRecord? {
        try await base.load()
    }

    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        let record = try await base.update { record in
            let change = try await body(record)
            guard change != .keep else { return change }
            state.withLock { $0.changes.append(change) }
            if case .replace(let credential) = change { await onReplace?(credential) }
            let fails = state.withLock { state in
                state.failuresBeforeWriting -= 1
                return state.failuresBeforeWriting >= 0
            }
            if fails { throw Trouble() }
            return change
        }
        let fails = state.withLock { state in
            state.failuresAfterWriting -= 1
            return state.failuresAfterWriting >= 0
        }
        if fails { throw Trouble() }
        return record
    }
}

/// A store that lets go of the exclusion some time before its update returns, as one on a file or a database does.
final class SlowReturnStore: CredentialStore {
    let base: MemoryCredentialStore
    var takeOverDelay: TimeInterval { base.takeOverDelay }
    private let afterNext = Locked<(@Sendable () async throws -> Void)?>(nil)

    init(_ credential: Credential?) { base = MemoryCredentialStore(credential) }

    /// What is thrown there is the error of the update, which has written all the same.
    func afterNextUpdate(_ action: @escaping @Sendable () async throws -> Void) { afterNext.withLock { $0 = action } }

    func load() async throws -> CredentialRecord? { try await base.load() }

    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        let action = afterNext.withLock { $0.take() }
        let record = try await base.update(body)
        try await action?()
        return record
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
