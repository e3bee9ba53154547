// Every public protocol, implemented by a value or a class, an actor and a class on the main actor, as a consumer would.
// `.ci/check-consumers` compiles this file in every setting, and fails if a public protocol is not here.
import AccessTokenAdapters
import AccessTokenContract
import AccessTokenOAuth
import Foundation
import InterleavingExplorer

enum Loaders {
    nonisolated struct Value: AccessTokenLoader {
        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            handler(.success(AccessToken(value: "token")))
        }

        func signOut(then done: @escaping @Sendable () -> Void) { done() }
    }

    actor Actor: AccessTokenLoader {
        private var count = 0

        nonisolated func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            Task { handler(.success(await next())) }
        }

        private func next() -> AccessToken {
            count += 1
            return AccessToken(value: "token \(count)")
        }
    }

    @MainActor
    final class OnMainActor: AccessTokenLoader {
        private var count = 0

        nonisolated func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            Task { @MainActor in
                count += 1
                handler(.success(AccessToken(value: "token \(count)")))
            }
        }
    }
}

enum AsyncLoaders {
    nonisolated struct Value: AsyncAccessTokenLoader {
        func load(replacing old: AccessToken?) async throws -> AccessToken { AccessToken(value: "token") }
        func signOut() async {}
    }

    actor Actor: AsyncAccessTokenLoader {
        private var count = 0

        func load(replacing old: AccessToken?) async throws -> AccessToken {
            count += 1
            return AccessToken(value: "token \(count)")
        }

        func signOut() { count = 0 }
    }

    @MainActor
    final class OnMainActor: AsyncAccessTokenLoader {
        private var count = 0

        @MainActor func load(replacing old: AccessToken?) async throws -> AccessToken {
            count += 1
            return AccessToken(value: "token \(count)")
        }

        @MainActor func signOut() async { count = 0 }
    }
}

enum Providers {
    nonisolated final class Reference: AccessTokenProviding {
        func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
            handler(.success(AccessToken(value: "token")))
            return .answered
        }

        func invalidate(_ rejected: AccessToken) {}
        func signOut(then done: @escaping @Sendable () -> Void) { done() }
    }

    actor Actor: AccessTokenProviding {
        private var isSignedIn = true

        nonisolated func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
            let task = Task { handler(await answer()) }
            return AccessTokenRetrieval { task.cancel() }
        }

        nonisolated func invalidate(_ rejected: AccessToken) {}

        nonisolated func signOut(then done: @escaping @Sendable () -> Void) {
            Task {
                await leave()
                done()
            }
        }

        private func leave() { isSignedIn = false }

        private func answer() -> Result<AccessToken, any Error> {
            isSignedIn ? .success(AccessToken(value: "token")) : .failure(AccessTokenError.signedOut)
        }
    }

    @MainActor
    final class OnMainActor: AccessTokenProviding {
        private var calls = 0

        nonisolated func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
            Task { @MainActor in
                calls += 1
                handler(.success(AccessToken(value: "token \(calls)")))
            }
            return AccessTokenRetrieval(onCancel: nil)
        }

        nonisolated func invalidate(_ rejected: AccessToken) {}
        nonisolated func signOut(then done: @escaping @Sendable () -> Void) { done() }
    }
}

enum AsyncProviders {
    nonisolated struct Value: AsyncAccessTokenProviding {
        func token() async throws -> AccessToken { AccessToken(value: "token") }
        func invalidate(_ rejected: AccessToken) async {}
        func signOut() async {}
    }

    actor Actor: AsyncAccessTokenProviding {
        private var current = AccessToken(value: "token")

        func token() async throws -> AccessToken { current }
        func invalidate(_ rejected: AccessToken) async { current = AccessToken(value: "next") }
        func signOut() async {}
    }

    @MainActor
    final class OnMainActor: AsyncAccessTokenProviding {
        private var current = AccessToken(value: "token")

        @MainActor func token() async throws -> AccessToken { current }
        @MainActor func invalidate(_ rejected: AccessToken) async { current = AccessToken(value: "next") }
        @MainActor func signOut() async {}
    }
}

enum Clocks {
    nonisolated struct Value: AccessTokenClock {
        var now: Date { .now }

        func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
            let task = Task {
                try await Task.sleep(for: .seconds(delay))
                action()
            }
            return AccessTokenTimer { task.cancel() }
        }
    }

    actor Actor: AccessTokenClock {
        nonisolated var now: Date { .now }

        nonisolated func schedule(
            after delay: TimeInterval,
            _ action: @escaping @Sendable () -> Void
        ) -> AccessTokenTimer {
            AccessTokenTimer {}
        }
    }

    @MainActor
    final class OnMainActor: AccessTokenClock {
        nonisolated var now: Date { .now }

        nonisolated func schedule(
            after delay: TimeInterval,
            _ action: @escaping @Sendable () -> Void
        ) -> AccessTokenTimer {
            AccessTokenTimer {}
        }
    }
}

enum Stores {
    nonisolated struct Value: CredentialStore {
        let base = MemoryCredentialStore()

        func load() async throws -> CredentialRecord? { try await base.load() }
        func update(_ body: CredentialUpdate) async throws -> CredentialRecord? { try await base.update(body) }
    }

    actor Actor: CredentialStore {
        private var record: CredentialRecord?

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
    final class OnMainActor: CredentialStore {
        private let base = MemoryCredentialStore()
        private var updates = 0

        @MainActor func load() async throws -> CredentialRecord? { try await base.load() }

        @MainActor func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
            updates += 1
            return try await base.update(body)
        }
    }
}

enum Failures {
    nonisolated struct Value: LoggableError {
        var logCode: String { "value" }
    }

    actor Actor: LoggableError {
        nonisolated var logCode: String { "actor" }
    }

    @MainActor
    final class OnMainActor: LoggableError {
        nonisolated var logCode: String { "main_actor" }
    }
}
