// Every public protocol, implemented by a value or a class, an actor and a class on the main actor, as a consumer
// would. `.ci/check-consumers` compiles this file in every setting, and fails if a public protocol is not here.
import AccessTokenAdapters
import AccessTokenContract
import AccessTokenOAuth
import Foundation
import InterleavingExplorer

/// What callback code implements.
enum Callbacks {
    nonisolated struct Value: AccessTokenLoader, AccessTokenClock, LoggableError, LoginNeedingError {
        var logCode: String { "value" }
        var needsLogin: Bool { false }
        var now: Date { .now }

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            handler(.success(AccessToken(value: "token")))
        }

        func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
            let task = Task {
                try await Task.sleep(for: .seconds(delay))
                action()
            }
            return AccessTokenTimer { task.cancel() }
        }
    }

    nonisolated final class Reference: AccessTokenProviding {
        func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
            handler(.success(AccessToken(value: "token")))
            return .answered
        }

        func invalidate(_ rejected: AccessToken) {}
        func signOut(then done: @escaping @Sendable () -> Void) { done() }
    }

    actor Actor: AccessTokenLoader, AccessTokenProviding, AccessTokenClock, LoggableError {
        private var count = 0

        nonisolated var logCode: String { "actor" }
        nonisolated var now: Date { .now }

        nonisolated func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            Task { handler(.success(await next())) }
        }

        nonisolated func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
            let task = Task { handler(.success(await next())) }
            return AccessTokenRetrieval { task.cancel() }
        }

        nonisolated func invalidate(_ rejected: AccessToken) {}
        nonisolated func signOut(then done: @escaping @Sendable () -> Void) { done() }

        nonisolated func schedule(
            after delay: TimeInterval,
            _ action: @escaping @Sendable () -> Void
        ) -> AccessTokenTimer {
            AccessTokenTimer {}
        }

        private func next() -> AccessToken {
            count += 1
            return AccessToken(value: "token \(count)")
        }
    }

    @MainActor
    final class OnMainActor: AccessTokenLoader, AccessTokenProviding, AccessTokenClock, LoggableError {
        private var count = 0

        nonisolated var logCode: String { "main_actor" }
        nonisolated var now: Date { .now }

        nonisolated func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            Task { @MainActor in
                count += 1
                handler(.success(AccessToken(value: "token \(count)")))
            }
        }

        nonisolated func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
            load(replacing: nil, then: handler)
            return AccessTokenRetrieval(onCancel: nil)
        }

        nonisolated func invalidate(_ rejected: AccessToken) {}
        nonisolated func signOut(then done: @escaping @Sendable () -> Void) { done() }

        nonisolated func schedule(
            after delay: TimeInterval,
            _ action: @escaping @Sendable () -> Void
        ) -> AccessTokenTimer {
            AccessTokenTimer {}
        }
    }
}

/// What async code implements.
enum Async {
    nonisolated struct Value: AsyncAccessTokenLoader, AsyncAccessTokenProviding, CredentialStore {
        let base = MemoryCredentialStore()

        func load(replacing old: AccessToken?) async throws -> AccessToken { AccessToken(value: "token") }
        func token() async throws -> AccessToken { AccessToken(value: "token") }
        func invalidate(_ rejected: AccessToken) async {}
        func signOut() async {}

        func load() async throws -> CredentialRecord? { try await base.load() }
        func update(_ body: CredentialUpdate) async throws -> CredentialRecord? { try await base.update(body) }
    }

    actor Actor: AsyncAccessTokenLoader, AsyncAccessTokenProviding, CredentialStore {
        private var current = AccessToken(value: "token")
        private var record: CredentialRecord?

        func load(replacing old: AccessToken?) async throws -> AccessToken { current }
        func token() async throws -> AccessToken { current }
        func invalidate(_ rejected: AccessToken) async { current = AccessToken(value: "next") }
        func signOut() { record = nil }

        func load() async throws -> CredentialRecord? { record }

        func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
            switch try await body(record) {
            case .keep: break
            case .replace(let new): record = CredentialRecord(credential: new, version: (record?.version ?? 0) + 1)
            case .remove: record = nil
            }
            return record
        }
    }

    @MainActor
    final class OnMainActor: AsyncAccessTokenLoader, AsyncAccessTokenProviding, CredentialStore {
        private let base = MemoryCredentialStore()
        private var current = AccessToken(value: "token")

        @MainActor func load(replacing old: AccessToken?) async throws -> AccessToken { current }
        @MainActor func token() async throws -> AccessToken { current }
        @MainActor func invalidate(_ rejected: AccessToken) async { current = AccessToken(value: "next") }
        @MainActor func signOut() async {}

        @MainActor func load() async throws -> CredentialRecord? { try await base.load() }

        @MainActor func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
            try await base.update(body)
        }
    }
}
