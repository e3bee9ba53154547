import AccessTokenContract
import AccessTokenSynchronization
import Foundation

/// Loads before anybody asks, and renews in time by a timer; what it has counts as good until the renewal is there.
final class PreloadingRenewer: Sendable {
    private struct State {
        var token: AccessToken?
        var isLoading = false
        var waiting: [AccessTokenHandler] = []
    }

    private let loader: ControlledLoader
    private let clock: ManualClock
    private let isRepaired: Bool
    private let state = Locked(State())

    init(isRepaired: Bool, loader: ControlledLoader, clock: ManualClock) {
        self.isRepaired = isRepaired
        self.loader = loader
        self.clock = clock
        load()
    }

    func get(_ completion: @escaping AccessTokenHandler) {
        let present = state.withLock { state -> AccessToken? in
            let isPast = state.token?.expiration.map { $0 <= clock.now } ?? false
            if let token = state.token, !isRepaired || !isPast { return token }
            state.waiting.append(completion)
            return nil
        }
        if let present { completion(.success(present)) } else { load() }
    }

    private func load() {
        let isFree = state.withLock { state in
            defer { state.isLoading = true }
            return !state.isLoading
        }
        guard isFree else { return }
        loader.load(replacing: nil) { self.finish($0) }
    }

    private func finish(_ result: Result<AccessToken, any Error>) {
        let waiting = state.withLock { state -> [AccessTokenHandler]? in
            guard state.isLoading else { return nil }
            defer { state.waiting = [] }
            state.isLoading = false
            if let new = try? result.get() { state.token = new }
            return state.waiting
        }
        guard let waiting else { return }
        for completion in waiting { completion(result) }
        guard let end = (try? result.get())?.expiration else { return }
        _ = clock.schedule(after: end.timeIntervalSince(clock.now) - 60) { [weak self] in self?.load() }
    }

    static func subject(isRepaired: Bool) -> ContractSubject {
        ContractSubject("a renewer that loads ahead", features: [.expiry, .callbackLoader]) { fixture in
            let renewer = PreloadingRenewer(isRepaired: isRepaired, loader: fixture.loader, clock: fixture.clock)
            return .retrieving { renewer.get($0) }
        }
    }
}
