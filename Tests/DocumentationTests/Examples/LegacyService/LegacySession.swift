import Dispatch
import Foundation

/// A service as many apps have it: a queue, pending handlers, a token type of its own, and nothing but one method.
///
/// It looks right. What is wrong with it is what the contract finds: whoever drops the session during a load loses
/// all handlers, and an endpoint that calls back twice replaces a token that is in use.
// Safe: all state is touched on the queue only.
final class LegacySession: @unchecked Sendable {
    typealias Handler = @Sendable (Result<LegacyToken, any Error>) -> Void

    private let requestToken: @Sendable (@escaping Handler) -> Void
    private let queue = DispatchQueue(label: "LegacySession")
    private var token: LegacyToken?
    private var pendingHandlers: [Handler] = []

    init(requestToken: @escaping @Sendable (@escaping Handler) -> Void) {
        self.requestToken = requestToken
    }

    func retrieveToken(then handler: @escaping Handler) {
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

    private func handle(_ result: Result<LegacyToken, any Error>) {
        if case .success(let new) = result { token = new }
        let handlers = pendingHandlers
        pendingHandlers = []
        for handler in handlers { handler(result) }
    }
}
