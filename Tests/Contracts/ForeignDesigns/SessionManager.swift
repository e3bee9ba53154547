import AccessTokenContract

/// An actor that keeps a session, and starts a task for each refresh.
actor SessionManager {
    struct NoSession: Error {}

    /// What becomes of a refresh that was running when the session ended.
    enum LateToken {
        case goesToItsWaiters, isDropped
        /// The refresh is cancelled at sign-out, which many a request ignores.
        case isCancelled
    }

    private let loader: ControlledLoader
    private let lateToken: LateToken
    private var token: AccessToken?
    private var isSignedOut = false
    private var session = 0
    private var refreshing: Task<AccessToken, any Error>?

    init(_ lateToken: LateToken, loader: ControlledLoader) {
        self.loader = loader
        self.lateToken = lateToken
    }

    func current() async throws -> AccessToken {
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

    private func refresh() async throws -> AccessToken {
        let session = session
        defer { if session == self.session { refreshing = nil } }
        let new = try await loader.load(replacing: nil)
        switch lateToken {
        case _ where session == self.session, .isCancelled: token = new
        case .goesToItsWaiters: break
        case .isDropped: throw NoSession()
        }
        return new
    }
}

extension ForeignDesign {
    static let lateWaiters = session("a session whose waiters get a late answer", .goesToItsWaiters)
    static let cancelledSession = session("a session that cancels its load and trusts in that", .isCancelled)

    private static func session(_ name: String, _ lateToken: SessionManager.LateToken) -> ForeignDesign {
        ForeignDesign(broken: ["O1", "O4"], repairs: "O1") { isRepaired in
            ContractSubject(name, features: [.signOut]) { fixture in
                let manager = SessionManager(isRepaired ? .isDropped : lateToken, loader: fixture.loader)
                return .awaiting {
                    try await manager.current()
                } signOut: {
                    await manager.end()
                }
            }
        }
    }
}
