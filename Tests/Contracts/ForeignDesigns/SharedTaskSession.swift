import AccessTokenContract

/// An actor that shares one task, which its callers clear when they are done: also when a newer one is there by then.
actor SharedTaskSession {
    enum Clearing { case everyCaller, whoStartedTheTask, theLoad }

    private let request: @Sendable () async throws -> ForeignToken
    private let clearing: Clearing
    private var token: ForeignToken?
    private var refreshing: Task<ForeignToken, any Error>?

    init(clearing: Clearing, request: @escaping @Sendable () async throws -> ForeignToken) {
        self.request = request
        self.clearing = clearing
    }

    func validToken() async throws -> ForeignToken {
        if let token { return token }
        let isFirst = refreshing == nil
        let task = refreshing ?? Task { try await refresh() }
        refreshing = task
        defer { if clearing == .everyCaller || clearing == .whoStartedTheTask && isFirst { refreshing = nil } }
        return try await task.value
    }

    func reject(_ rejected: ForeignToken) {
        guard token == rejected else { return }
        token = nil
        if clearing == .whoStartedTheTask { refreshing = nil }
    }

    private func refresh() async throws -> ForeignToken {
        defer { if clearing == .theLoad { refreshing = nil } }
        let new = try await request()
        token = new
        return new
    }
}

extension ForeignDesign {
    static let sharedTask = shared(
        .everyCaller,
        [.asyncCallers, .cancellation],
        broken: ["S3", "X1", "X3"],
        repairs: "S3"
    )
    /// A round of S4 holds the caller that started the task, and no other.
    static let leaderClears = shared(.whoStartedTheTask, [.asyncCallers, .invalidation], broken: ["S4"], repairs: "S4")

    private static func shared(
        _ clearing: SharedTaskSession.Clearing,
        _ features: ContractFeatures,
        broken: [String],
        repairs: String
    ) -> ForeignDesign {
        ForeignDesign("a shared task, cleared by \(clearing)", broken: broken, repairs: repairs) { isRepaired in
            ContractSubject("shared task", features: features) { fixture in
                let session = SharedTaskSession(clearing: isRepaired ? .theLoad : clearing) {
                    try await ForeignToken(fixture.loader.load(replacing: nil))
                }
                return .awaiting {
                    try await session.validToken().token
                } invalidate: {
                    await session.reject(ForeignToken($0))
                }
            }
        }
    }
}
