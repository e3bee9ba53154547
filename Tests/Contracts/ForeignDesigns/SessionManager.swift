import AccessTokenContract

/// An actor that keeps a session, and starts a task for each refresh.
actor SessionManager {
    struct NoSession: Error {}

    /// What becomes of a refresh that was running when the session ended.
    enum LateToken {
        case bringsTheSessionBack, goesToItsWaiters, isDropped
        /// The refresh is cancelled at sign-out, which many a request ignores.
        case isCancelled
    }

    private let request: @Sendable () async throws -> ForeignToken
    private let lateToken: LateToken
    private var token: ForeignToken?
    private var isSignedOut = false
    private var session = 0
    private var refreshing: Task<ForeignToken, any Error>?

    init(_ lateToken: LateToken, request: @escaping @Sendable () async throws -> ForeignToken) {
        self.request = request
        self.lateToken = lateToken
    }

    func current() async throws -> ForeignToken {
        if let token { return token }
        if isSignedOut { throw NoSession() }
        let task = refreshing ?? Task { try await refresh() }
        refreshing = task
        return try await task.value
    }

    func end() {
        token = nil
        isSignedOut = true
        session += 1
        if lateToken == .isCancelled { refreshing?.cancel() }
        refreshing = nil
    }

    private func refresh() async throws -> ForeignToken {
        let session = session
        defer { if session == self.session { refreshing = nil } }
        let new = try await request()
        switch lateToken {
        case _ where session == self.session, .bringsTheSessionBack, .isCancelled: token = new
        case .goesToItsWaiters: break
        case .isDropped: throw NoSession()
        }
        return new
    }
}

extension ForeignDesign {
    static let lateSession = session("a session that a late answer brings back", .bringsTheSessionBack)
    static let lateWaiters = session("a session whose waiters get a late answer", .goesToItsWaiters)

    static let cancelledSession = session("a session that cancels its load and trusts in that", .isCancelled)

    private static func session(_ name: String, _ lateToken: SessionManager.LateToken) -> ForeignDesign {
        ForeignDesign(name, broken: ["O1", "O4"], repairs: "O1") { isRepaired in
            ContractSubject("session manager", features: [.signOut]) { fixture in
                let manager = SessionManager(isRepaired ? .isDropped : lateToken) {
                    try await ForeignToken(fixture.loader.load(replacing: nil))
                }
                return .awaiting {
                    try await manager.current().token
                } signOut: {
                    await manager.end()
                }
            }
        }
    }
}
