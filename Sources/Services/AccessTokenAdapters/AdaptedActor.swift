import AccessTokenAsync
import AccessTokenCore
import AccessTokenSynchronization

/// The package's actor: tells when a call has reached it, and is asked without a task for each caller.
struct AdaptedActor: AdaptedService {
    private let service: AsyncAccessTokenService
    private let calls: OrderedCalls

    init(_ service: AsyncAccessTokenService) {
        self.service = service
        calls = OrderedCalls(startTask: service.startTask)
    }

    var freshToken: AccessToken? { calls.areUnderWay ? nil : service.freshToken }

    func retrieveToken(_ answer: OneShot<LoadResult>, until cancelled: Latch) {
        let loads = LoadContext.currentLoads
        calls.add { [service, calls] in
            // It may have waited for its turn: whoever is cancelled already starts no load (X3).
            guard !cancelled.hasFired else { return }
            guard let waiter = await service.retrieveToken(inside: loads, then: { answer($0) }) else { return }
            cancelled.whenFired { [weak service] in calls.add { await service?.cancel(waiter) } }
        }
    }

    func invalidate(_ rejected: AccessToken) {
        callInOrder { [service] in await service.invalidate(rejected) }
    }

    func signOut(then finish: OneShot<Void>) {
        let enclosing = LoadContext.currentLoads
        calls.add { [service] in await service.endSession(inside: enclosing) { finish(()) } }
    }

    func callInOrder(_ call: @escaping @Sendable () async -> Void) {
        // As a task would be, the call is inside the loads that the caller is inside (R1).
        let context = LoadContext.current
        calls.add { await LoadContext.$current.withValue(context) { await call() } }
    }

    nonisolated(nonsending) func callsHaveReachedIt(isCancellable: Bool) async {
        await calls.finished(isCancellable: isCancellable)
    }
}
