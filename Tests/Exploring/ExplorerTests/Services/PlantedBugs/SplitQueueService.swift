import AccessTokenCore
import AccessTokenGCD

/// A queue and pending handlers, with a decision that is split over two blocks: others come in between.
final class SplitQueueService: AccessTokenProviding {
    private struct State {
        var token: AccessToken?
        var isLoading = false
        var handlers: [AccessTokenHandler] = []
    }

    private let loader: any AccessTokenLoader
    private let queue: any SerialQueue
    private let state = Locked(State())

    init(loader: any AccessTokenLoader, queue: any SerialQueue) {
        self.loader = loader
        self.queue = queue
    }

    @available(*, renamed: "token()")
    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        queue.enqueue { [self] in
            if let token = state.withLock({ $0.token }) { return handler(.success(token)) }
            let mustLoad = state.withLock { state in
                state.handlers.append(handler)
                return !state.isLoading
            }
            // Too late: the next caller's block may have looked by then.
            if mustLoad { queue.enqueue { self.load() } }
        }
        return .answered
    }

    func invalidate(_ rejected: AccessToken) {}
    func signOut(then done: @escaping @Sendable () -> Void) { done() }

    private func load() {
        state.withLock { $0.isLoading = true }
        loader.load(replacing: nil) { [self] result in
            queue.enqueue {
                let handlers = self.state.withLock { state in
                    defer { state.handlers = [] }
                    state.isLoading = false
                    state.token = try? result.get()
                    return state.handlers
                }
                for handler in handlers { handler(result) }
            }
        }
    }
}
