import AccessTokenContract
import Foundation

/// A lock around each access, and none around the decision: callers on several threads all find that no load is running.
///
/// Its loads have no numbers: a second answer to one of them reaches those who wait for the next (D7).
final class TwoStepCache: Sendable {
    private let request: @Sendable (@escaping @Sendable (Result<ForeignToken, any Error>) -> Void) -> Void
    private let isRepaired: Bool
    private let decision = NSLock()
    private let token = Locked<ForeignToken?>(nil)
    private let isLoading = Locked(false)
    private let waiting = Locked<[@Sendable (Result<ForeignToken, any Error>) -> Void]>([])

    init(
        isRepaired: Bool,
        request: @escaping @Sendable (@escaping @Sendable (Result<ForeignToken, any Error>) -> Void) -> Void
    ) {
        self.isRepaired = isRepaired
        self.request = request
    }

    func get(_ completion: @escaping @Sendable (Result<ForeignToken, any Error>) -> Void) {
        if let token = token.withLock({ $0 }) { return completion(.success(token)) }
        if isRepaired { decision.lock() }
        waiting.withLock { $0.append(completion) }
        let mustLoad = !isLoading.withLock { $0 }
        // As long as it takes to put a request together.
        if mustLoad { Thread.sleep(forTimeInterval: 0.000_2) }
        if mustLoad { isLoading.withLock { $0 = true } }
        if isRepaired { decision.unlock() }
        if mustLoad { request { self.finish($0) } }
    }

    private func finish(_ result: Result<ForeignToken, any Error>) {
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
    static let twoSteps = ForeignDesign("a decision in two steps", broken: ["S1", "D7"], repairs: "S1") { isRepaired in
        ContractSubject("two steps", features: .callbackLoader) { fixture in
            let cache = TwoStepCache(isRepaired: isRepaired) { completion in
                fixture.loader.load(replacing: nil) { completion($0.map(ForeignToken.init)) }
            }
            return .retrieving { handler in cache.get { handler($0.map(\.token)) } }
        }
    }
}
