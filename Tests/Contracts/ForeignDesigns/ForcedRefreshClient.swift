import AccessTokenContract

/// One shared task for those who take what there is; who forces a refresh gets a load of its own.
actor ForcedRefreshClient {
    private let loader: ControlledLoader
    private let isRepaired: Bool
    private(set) var token: AccessToken?
    private var refreshing: Task<AccessToken, any Error>?

    init(isRepaired: Bool, loader: ControlledLoader) {
        self.isRepaired = isRepaired
        self.loader = loader
    }

    func token(forcingRefresh isForced: Bool) async throws -> AccessToken {
        if !isForced, let token { return token }
        if let refreshing, !isForced || isRepaired { return try await refreshing.value }
        let task = Task { try await refresh() }
        refreshing = task
        return try await task.value
    }

    private func refresh() async throws -> AccessToken {
        defer { refreshing = nil }
        let new = try await loader.load(replacing: nil)
        token = new
        return new
    }
}

extension ForeignDesign {
    static let forcedRefresh = ForeignDesign(broken: ["I7"], repairs: "I7") { isRepaired in
        ContractSubject("a forced refresh that joins no other", features: [.forcedRefresh, .currentToken]) { fixture in
            let client = ForcedRefreshClient(isRepaired: isRepaired, loader: fixture.loader)
            return .awaiting {
                try await client.token(forcingRefresh: false)
            } refresh: {
                try await client.token(forcingRefresh: true)
            } currentToken: {
                await client.token
            }
        }
    }
}
