import Dispatch
package import Foundation

/// A service as many apps have it: a queue, pending handlers, and a token type of its own.
///
/// It looks right. What is wrong with it is what the contract finds: a load that outlives its session brings the
/// former user back, all handlers are lost if the session is dropped during a load, and a request that calls back twice
/// replaces a token that is in use.
// Safe: all state is touched on the queue only.
package nonisolated final class LegacySession: @unchecked Sendable {
    package typealias Handler = @Sendable (Result<LegacyToken, any Error>) -> Void

    private let requestToken: @Sendable (@escaping Handler) -> Void
    private let queue = DispatchQueue(label: "LegacySession")
    private var token: LegacyToken?
    private var pendingHandlers: [Handler] = []

    package init(requestToken: @escaping @Sendable (@escaping Handler) -> Void) {
        self.requestToken = requestToken
    }

    package func retrieveToken(then handler: @escaping Handler) {
        queue.async { [weak self] in
            guard let self else { return }
            if let token, token.expiresAt > .now { return handler(.success(token)) }
            pendingHandlers.append(handler)
            guard pendingHandlers.count == 1 else { return }
            requestToken { [weak self] result in
                guard let self else { return }
                queue.async { self.handle(result) }
            }
        }
    }

    package func signIn(_ new: LegacyToken) {
        queue.async { self.token = new }
    }

    package func signOut() {
        queue.async { self.token = nil }
    }

    private func handle(_ result: Result<LegacyToken, any Error>) {
        if case .success(let new) = result { token = new }
        let handlers = pendingHandlers
        pendingHandlers = []
        for handler in handlers { handler(result) }
    }
}

package nonisolated struct LegacyToken: Sendable {
    package let value: String
    package let expiresAt: Date

    package init(value: String, expiresAt: Date) {
        self.value = value
        self.expiresAt = expiresAt
    }
}
