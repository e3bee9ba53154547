import AccessTokenContract

/// An actor that shares one task, which the caller that started it clears when it is done: also when a newer one is there by
/// then. Repaired, the load clears it.
actor SharedTaskSession {
    private let loader: ControlledLoader
    private let isRepaired: Bool
    private var token: AccessToken?
    private var refreshing: Task<AccessToken, any Error>?

    init(isRepaired: Bool, loader: ControlledLoader) {
        self.isRepaired = isRepaired
        self.loader = loader
    }

    func validToken() async throws -> AccessToken {
        if let token { return token }
        let isFirst = refreshing == nil
        let task = refreshing ?? Task { try await refresh() }
        refreshing = task
        defer { if isFirst, !isRepaired { refreshing = nil } }
        return try await task.value
    }

    func reject(_ rejected: AccessToken) {
        guard token == rejected else { return }
        token = nil
        if !isRepaired { refreshing = nil }
    }

    private func refresh() async throws -> AccessToken {
        defer { if isRepaired { refreshing = nil } }
        let new = try await loader.load(replacing: nil)
        token = new
        return new
    }
}

extension ForeignDesign {
    /// A round of S4 holds the caller that started the task, and no other.
    static let leaderClears = ForeignDesign(broken: ["S4"], repairs: "S4") { isRepaired in
        ContractSubject("a shared task, cleared by its caller", features: [.asyncCallers, .invalidation]) { fixture in
            let session = SharedTaskSession(isRepaired: isRepaired, loader: fixture.loader)
            return .awaiting {
                try await session.validToken()
            } invalidate: {
                await session.reject($0)
            }
        }
    }
}
