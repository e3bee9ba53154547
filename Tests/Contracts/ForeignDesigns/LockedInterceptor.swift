import AccessTokenContract
import Dispatch
import Foundation

/// A lock around the state of a refresh, which is held while the request is started.
///
/// Its refreshes have no numbers: a second answer to one of them reaches those who wait for the next (D7).
final class LockedInterceptor: Sendable {
    private struct State {
        var token: AccessToken?
        var isRefreshing = false
        var waiting: [AccessTokenHandler] = []
    }

    private let loader: ControlledLoader
    private let isRepaired: Bool
    private let lock = NSLock()
    private let state = Locked(State())

    init(isRepaired: Bool, loader: ControlledLoader) {
        self.isRepaired = isRepaired
        self.loader = loader
    }

    func adapt(_ completion: @escaping AccessTokenHandler) {
        lock.lock()
        if let token = state.withLock({ $0.token }) {
            lock.unlock()
            return DispatchQueue.global().async { completion(.success(token)) }
        }
        let mustRefresh = state.withLock { state in
            state.waiting.append(completion)
            defer { state.isRefreshing = true }
            return !state.isRefreshing
        }
        if mustRefresh, !isRepaired { refresh() }
        lock.unlock()
        if mustRefresh, isRepaired { refresh() }
    }

    func reject(_ token: AccessToken) {
        lock.withLock {
            state.withLock { if $0.token == token { $0.token = nil } }
        }
    }

    private func refresh() {
        loader.load(replacing: nil) { result in
            let waiting = self.lock.withLock {
                self.state.withLock { state in
                    defer { state = State(token: try? result.get()) }
                    return state.waiting
                }
            }
            for completion in waiting { completion(result) }
        }
    }
}

extension ForeignDesign {
    static let lockedRequest = ForeignDesign("a lock around the request", broken: ["D7", "D8"], repairs: "D8") {
        isRepaired in
        ContractSubject("locked interceptor", features: [.callbackLoader, .invalidation]) { fixture in
            let interceptor = LockedInterceptor(isRepaired: isRepaired, loader: fixture.loader)
            return .retrieving {
                interceptor.adapt($0)
            } invalidate: {
                interceptor.reject($0)
            }
        }
    }
}
