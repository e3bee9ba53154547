import AccessTokenContract

/// An actor that shares one task, and whose callers clear it when they are done: also when a newer one is there by then.
actor SharedTaskSession {
    private let request: @Sendable () async throws -> ForeignToken
    private let isRepaired: Bool
    private var token: ForeignToken?
    private var refreshing: Task<ForeignToken, any Error>?

    init(isRepaired: Bool, request: @escaping @Sendable () async throws -> ForeignToken) {
        self.isRepaired = isRepaired
        self.request = request
    }

    func validToken() async throws -> ForeignToken {
        if let token { return token }
        let task = refreshing ?? Task { try await refresh() }
        refreshing = task
        defer { if !isRepaired { refreshing = nil } }
        return try await task.value
    }

    private func refresh() async throws -> ForeignToken {
        defer { if isRepaired { refreshing = nil } }
        let new = try await request()
        token = new
        return new
    }
}

extension ForeignDesign {
    static let sharedTask = ForeignDesign(
        "a shared task that every caller clears",
        broken: ["S3", "X1", "X3"],
        repairs: "S3"
    ) { isRepaired in
        ContractSubject("shared task", features: [.asyncCallers, .cancellation]) { fixture in
            let session = SharedTaskSession(isRepaired: isRepaired) {
                try await ForeignToken(fixture.loader.load(replacing: nil))
            }
            return .awaiting { try await session.validToken().token }
        }
    }
}
