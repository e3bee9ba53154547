import AccessTokenContract
import Foundation

/// A lock around each access, and none around the decision: callers on several threads all find that no load is running.
///
/// Its loads have no numbers: a second answer to one of them reaches those who wait for the next (D7).
final class TwoStepCache: Sendable {
    private let loader: ControlledLoader
    private let isRepaired: Bool
    private let decision = NSLock()
    private let token = Locked<AccessToken?>(nil)
    private let isLoading = Locked(false)
    private let waiting = Locked<[AccessTokenHandler]>([])

    init(isRepaired: Bool, loader: ControlledLoader) {
        self.isRepaired = isRepaired
        self.loader = loader
    }

    func get(_ completion: @escaping AccessTokenHandler) {
        if let token = token.withLock({ $0 }) { return completion(.success(token)) }
        if isRepaired { decision.lock() }
        waiting.withLock { $0.append(completion) }
        let mustLoad = !isLoading.withLock { $0 }
        // As long as it takes to put a request together.
        if mustLoad { Thread.sleep(forTimeInterval: 0.000_2) }
        if mustLoad { isLoading.withLock { $0 = true } }
        if isRepaired { decision.unlock() }
        if mustLoad { loader.load(replacing: nil) { self.finish($0) } }
    }

    private func finish(_ result: Result<AccessToken, any Error>) {
        token.withLock { $0 = try? result.get() }
        isLoading.withLock { $0 = false }
        for completion in waiting.withLock({ waiting in
            defer { waiting = [] }
            return waiting
        }) {
            completion(result)
        }
    }
}

extension ForeignDesign {
    static let twoSteps = ForeignDesign(broken: ["S1", "D7"], repairs: "S1") { isRepaired in
        ContractSubject("a decision in two steps", features: .callbackLoader) { fixture in
            let cache = TwoStepCache(isRepaired: isRepaired, loader: fixture.loader)
            return .retrieving { cache.get($0) }
        }
    }
}
