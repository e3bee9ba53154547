import AccessTokenContract
import AccessTokenSynchronization

/// A callback that became a continuation: a second answer of the loader resumes the continuation again, and traps.
enum ContinuationTwin {
    static func subject(isRepaired: Bool) -> ContractSubject {
        ContractSubject("a continuation", features: [.callbackLoader, .asyncCallers]) { fixture in
            .awaiting {
                try await withCheckedThrowingContinuation { continuation in
                    let isAnswered = Locked(false)
                    fixture.loader.load(replacing: nil) { result in
                        let isRepeated = isAnswered.withLock { isAnswered in
                            defer { isAnswered = true }
                            return isAnswered
                        }
                        if isRepaired, isRepeated { return }
                        continuation.resume(with: result)
                    }
                }
            }
        }
    }
}
