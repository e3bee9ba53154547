import AccessTokenContract

/// Waiters by number, each with its continuation, which a cancellation takes out and resumes.
///
/// The cancellation of a caller that is cancelled before it waits comes first: it finds nothing to take out, and the caller
/// waits for ever.
final class EarlyCancellation: Sendable {
    private struct State {
        var token: AccessToken?
        var isLoading = false
        var waiters: [Int: CheckedContinuation<AccessToken, any Error>] = [:]
        var lastWaiter = 0
    }

    private let looksAgain: Bool
    private let loader: ControlledLoader
    private let state = Locked(State())

    init(looksAgain: Bool, loader: ControlledLoader) {
        self.looksAgain = looksAgain
        self.loader = loader
    }

    func token() async throws -> AccessToken {
        if let token = state.withLock({ $0.token }) { return token }
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = Task.isCancelled
                if isCancelled, looksAgain { return continuation.resume(throwing: CancellationError()) }
                let mustLoad = state.withLock { state in
                    state.waiters[number] = continuation
                    // There is no load for a caller that is gone.
                    defer { if !isCancelled { state.isLoading = true } }
                    return !state.isLoading && !isCancelled
                }
                if mustLoad { Task { await load() } }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    private func load() async {
        let result: Result<AccessToken, any Error>
        do { result = .success(try await loader.load(replacing: nil)) } catch { result = .failure(error) }
        let waiters = state.withLock { state in
            defer {
                state.waiters = [:]
                state.isLoading = false
                state.token = try? result.get()
            }
            return state.waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in waiters { waiter.resume(with: result) }
    }
}

extension ForeignDesign {
    static let earlyCancellation = ForeignDesign(broken: ["X3"], repairs: "X3") { isRepaired in
        ContractSubject("a cancellation before the wait", features: [.cancellation, .asyncCallers]) { fixture in
            let service = EarlyCancellation(looksAgain: isRepaired, loader: fixture.loader)
            return .awaiting { try await service.token() }
        }
    }
}
