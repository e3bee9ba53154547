import AccessTokenContract

/// An actor that keeps a session; a refresh that was running when the session ended brings it back.
actor SessionManager {
    struct NoSession: Error {}

    private let request: @Sendable () async throws -> ForeignToken
    private let isRepaired: Bool
    private var token: ForeignToken?
    private var isSignedOut = false
    private var session = 0
    private var refreshing: Task<ForeignToken, any Error>?

    init(isRepaired: Bool, request: @escaping @Sendable () async throws -> ForeignToken) {
        self.isRepaired = isRepaired
        self.request = request
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
        refreshing = nil
    }

    private func refresh() async throws -> ForeignToken {
        let session = session
        defer { if session == self.session { refreshing = nil } }
        let new = try await request()
        if session == self.session || !isRepaired { token = new }
        return new
    }
}

extension ForeignDesign {
    static let lateSession = ForeignDesign(
        "a session that a late answer brings back",
        broken: ["O1", "O4"],
        repairs: "O1"
    ) { isRepaired in
        ContractSubject("session manager", features: [.signOut]) { fixture in
            let manager = SessionManager(isRepaired: isRepaired) {
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
