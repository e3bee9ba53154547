import AccessTokenOAuth

/// A store in memory that can be told to fail, and that tells what was written.
final class TroubledStore: CredentialStore {
    struct Trouble: Error, Hashable {}

    private struct State {
        var failuresBeforeWriting = 0
        var failuresAfterWriting = 0
        var changes: [CredentialChange] = []
    }

    let base: MemoryCredentialStore
    private let state = Locked(State())
    private let onReplace: (@Sendable (Credential) async -> Void)?

    init(_ credential: Credential?, onReplace: (@Sendable (Credential) async -> Void)? = nil) {
        base = MemoryCredentialStore(credential)
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

    func update(
        _ body: @Sendable (CredentialRecord?) async throws -> CredentialChange
    ) async throws -> CredentialRecord? {
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
