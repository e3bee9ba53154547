import AccessTokenContract
import AccessTokenSynchronization
import TestSupport

/// Says when it is called and cancelled; what becomes of its handlers is up to the test.
final class CallbackService: AccessTokenProviding {
    let isCalled = Event()
    let isCancelled = Event()
    private let handlers = Locked<[AccessTokenHandler]>([])
    private let answersCancellation: Bool
    private let onCall: @Sendable () -> Void

    init(answersCancellation: Bool = false, onCall: @escaping @Sendable () -> Void = {}) {
        self.answersCancellation = answersCancellation
        self.onCall = onCall
    }

    @available(*, renamed: "token()")
    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        handlers.withLock { $0.append(handler) }
        onCall()
        isCalled.happen()
        let kept = answersCancellation ? handler : nil
        return AccessTokenRetrieval { [isCancelled] in
            isCancelled.happen()
            kept?(.failure(Violation("the service gave up")))
        }
    }

    func invalidate(_ rejected: AccessToken) {}
    /// Drops the handler.
    func signOut(then done: @escaping @Sendable () -> Void) {}

    func takeHandlers() -> [AccessTokenHandler] {
        handlers.withLock { handlers in
            defer { handlers = [] }
            return handlers
        }
    }
}
