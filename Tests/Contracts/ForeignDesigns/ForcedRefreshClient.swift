import AccessTokenContract

/// One shared task for those who take what there is; who forces a refresh gets a load of its own.
actor ForcedRefreshClient {
    private let request: @Sendable () async throws -> ForeignToken
    private let isRepaired: Bool
    private var token: ForeignToken?
    private var refreshing: Task<ForeignToken, any Error>?

    init(isRepaired: Bool, request: @escaping @Sendable () async throws -> ForeignToken) {
        self.isRepaired = isRepaired
        self.request = request
    }

    func token(forcingRefresh isForced: Bool) async throws -> ForeignToken {
        if !isForced, let token { return token }
        if let refreshing, !isForced || isRepaired { return try await refreshing.value }
        let task = Task { try await refresh() }
        refreshing = task
        return try await task.value
    }

    private func refresh() async throws -> ForeignToken {
        defer { refreshing = nil }
        let new = try await request()
        token = new
        return new
    }
}

extension ForeignDesign {
    static let forcedRefresh = ForeignDesign("a forced refresh that joins no other", broken: ["I7"], repairs: "I7") {
        isRepaired in
        ContractSubject("forced refresh", features: [.forcedRefresh, .currentToken]) { fixture in
            let client = ForcedRefreshClient(isRepaired: isRepaired) {
                try await ForeignToken(fixture.loader.load(replacing: nil))
            }
            return .awaiting {
                try await client.token(forcingRefresh: false).token
            } refresh: {
                try await client.token(forcingRefresh: true).token
            } currentToken: {
                await client.present?.token
            }
        }
    }
}

extension ForcedRefreshClient {
    var present: ForeignToken? { token }
}
