import AccessTokenAsync
import AccessTokenCore
import AccessTokenSynchronization

/// An async service of your own: each call is a task, and the tasks begin in the order of the calls.
struct AdaptedServiceOfOthers: AdaptedService {
    private let service: any AsyncAccessTokenProviding
    private let order = OrderedStart()

    init(_ service: any AsyncAccessTokenProviding) {
        self.service = service
    }

    func retrieveToken(_ answer: OneShot<LoadResult>, until cancelled: Latch) {
        let task = order.startTask { [service] in
            do { answer(.success(try await service.token())) } catch { answer(.failure(error)) }
        }
        cancelled.whenFired { task.cancel() }
    }

    /// The service may suspend before it takes note of the token, and a later caller would get that very token.
    func invalidate(_ rejected: AccessToken) {
        callInOrder { [service] in await service.invalidate(rejected) }
    }

    func signOut(then finish: OneShot<Void>) {
        order.startTask { [service] in
            await service.signOut()
            finish(())
        }
    }

    func callInOrder(_ call: @escaping @Sendable () async -> Void) {
        order.startTask(isWaitedFor: true, call)
    }

    nonisolated(nonsending) func callsHaveReachedIt(isCancellable: Bool) async {
        await order.tasksBefore(isCancellable: isCancellable)
    }
}
