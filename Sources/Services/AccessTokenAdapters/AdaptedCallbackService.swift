import AccessTokenCore
import AccessTokenGCD
import AccessTokenSynchronization

/// A callback service: it is called directly, in the order of the calls, but for those of `callInOrder`.
struct AdaptedCallbackService: AdaptedService {
    private let service: any AccessTokenProviding
    private let order = OrderedStart()

    init(_ service: any AccessTokenProviding) {
        self.service = service
    }

    func retrieveToken(_ answer: OneShot<LoadResult>, until cancelled: Latch) {
        let retrieval = service.retrieveToken { answer($0) }
        cancelled.whenFired { retrieval.cancel() }
    }

    func invalidate(_ rejected: AccessToken) {
        service.invalidate(rejected)
    }

    func signOut(then finish: OneShot<Void>) {
        service.signOut { finish(()) }
    }

    func callInOrder(_ call: @escaping @Sendable () async -> Void) {
        order.startTask(isWaitedFor: true, call)
    }
}
