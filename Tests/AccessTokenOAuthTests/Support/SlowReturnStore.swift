import Foundation

@testable import AccessTokenOAuth

/// A store that lets go of the exclusion some time before its update returns, as one on a file or a database does.
final class SlowReturnStore: CredentialStore {
    let base: MemoryCredentialStore
    private let afterNext = Locked<(@Sendable () async -> Void)?>(nil)

    init(_ credential: Credential?) { base = MemoryCredentialStore(credential) }

    func afterNextUpdate(_ action: @escaping @Sendable () async -> Void) { afterNext.withLock { $0 = action } }

    func load() async throws -> CredentialRecord? { try await base.load() }

    func update(
        _ body: @Sendable (CredentialRecord?) async throws -> CredentialChange
    ) async throws -> CredentialRecord? {
        let action = afterNext.withLock { $0.take() }
        let record = try await base.update(body)
        await action?()
        return record
    }
}
