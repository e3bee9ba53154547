import AccessTokenContract

/// The first caller loads in its own task, and the others wait for it: when the first one is cancelled, all fail.
final class LeaderCoalescer: Sendable {
    private enum Outcome {
        case result(Result<ForeignToken, any Error>)
        case leaderIsGone
    }

    private struct State {
        var token: ForeignToken?
        var isLoading = false
        var waiters: [CheckedContinuation<Outcome, Never>] = []
    }

    private let request: @Sendable () async throws -> ForeignToken
    private let isRepaired: Bool
    private let state = Locked(State())

    init(isRepaired: Bool, request: @escaping @Sendable () async throws -> ForeignToken) {
        self.isRepaired = isRepaired
        self.request = request
    }

    func value() async throws -> ForeignToken {
        while true {
            if let token = state.withLock({ $0.token }) { return token }
            let isLeader = state.withLock { state in
                defer { state.isLoading = true }
                return !state.isLoading
            }
            if isLeader { return try await lead() }
            switch await follow() {
            case .result(let result): return try result.get()
            case .leaderIsGone: continue
            }
        }
    }

    private func lead() async throws -> ForeignToken {
        let result: Result<ForeignToken, any Error>
        do { result = .success(try await request()) } catch { result = .failure(error) }
        let waiters = state.withLock { state in
            defer {
                state.waiters = []
                state.isLoading = false
                state.token = try? result.get()
            }
            return state.waiters
        }
        let isGone = isRepaired && Task.isCancelled
        for waiter in waiters { waiter.resume(returning: isGone ? .leaderIsGone : .result(result)) }
        return try result.get()
    }

    private func follow() async -> Outcome {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.isLoading { state.waiters.append(continuation) }
                return !state.isLoading
            }
            if isOver { continuation.resume(returning: .leaderIsGone) }
        }
    }
}

extension ForeignDesign {
    static let leader = ForeignDesign(
        "a coalescer whose leader is cancelled",
        broken: ["X1", "X2", "X3", "X4"],
        repairs: "X4"
    ) { isRepaired in
        ContractSubject("leader", features: [.asyncCallers, .cancellation]) { fixture in
            let coalescer = LeaderCoalescer(isRepaired: isRepaired) {
                try await ForeignToken(fixture.loader.load(replacing: nil))
            }
            return .awaiting { try await coalescer.value().token }
        }
    }
}
