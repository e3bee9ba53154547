import AccessTokenContract

/// An actor with one shared task, as many are published, in which one bug at a time can be planted.
///
/// Also without a bug no caller can leave the task (X1, O4), and a loader that asks its own service waits for ever
/// (R1).
actor BuggyActor {
    enum Bug: String, CaseIterable, Sendable {
        /// Others come in while the first caller awaits its load.
        case unguarded
        /// Also when a newer task is there by then.
        case everyCallerClears
        /// Until the leader goes on, others get what the task brought, also if that was rejected meanwhile.
        case leaderClears
        case leaderAndRejectionsClear
        case nobodyClears
        /// One that goes on late puts an old token in place of a newer one.
        case everyCallerStores
        case refreshJoinsNoOther
        case anyoneCancelsTheLoad
        case leaderCancelsTheLoad
        case cancelledCallerLoads
        /// A cancellation that comes before the wait is lost, and the caller waits for ever.
        case cancelledCallerWaits
        case waitersGetTheLateToken
        /// There is an `await` between the look at the cache and the look at the task.
        case looksAtTheCacheFirst
        /// There is an `await` between the look at the task and the note that a forced refresh has begun one.
        case refreshLooksFirst
        /// There is an `await` between the look at the token and the end of that token and its task.
        case rejectionLooksFirst
        /// There is an `await` between the look at the session and the end of the load, which keeps the token.
        case keepsTheTokenLate
        /// The load is cancelled at sign-out, which many a request ignores.
        case signOutTrustsInCancellation
    }

    /// Whom an `await` too many asks: each call another one, as if it were a file or a request.
    private actor Ledger {
        func note() {}
    }

    private let bug: Bug?
    private let loader: ControlledLoader
    private(set) var current: AccessToken?
    private var shared: Task<AccessToken, any Error>?
    private var isSignedOut = false
    private var session = 0

    init(bug: Bug?, loader: ControlledLoader) {
        self.bug = bug
        self.loader = loader
    }

    func token(forcingRefresh isForced: Bool) async throws -> AccessToken {
        if Task.isCancelled { try await endCancelledCall() }
        if !isForced, let current { return current }
        if isSignedOut { throw AccessTokenError.signedOut }
        if bug == .unguarded { return try await load() }
        if isForced, bug == .refreshJoinsNoOther { shared = nil }
        if bug == .looksAtTheCacheFirst { await Ledger().note() }
        let isLeader = shared == nil
        if isForced, isLeader, bug == .refreshLooksFirst {
            await Ledger().note()
            shared = Task { try await load() }
        }
        let task = shared ?? Task { try await load() }
        shared = task
        defer { if isLeader && leaderClears || bug == .everyCallerClears { shared = nil } }
        let token = try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            if bug == .anyoneCancelsTheLoad || isLeader && bug == .leaderCancelsTheLoad { task.cancel() }
        }
        if bug == .everyCallerStores { current = token }
        return token
    }

    func invalidate(_ rejected: AccessToken) async {
        guard current == rejected else { return }
        let isIdle = shared == nil
        if bug == .rejectionLooksFirst { await Ledger().note() }
        current = nil
        if bug == .leaderAndRejectionsClear || bug == .rejectionLooksFirst && isIdle { shared = nil }
    }

    func signOut() {
        current = nil
        isSignedOut = true
        session += 1
        if bug == .signOutTrustsInCancellation { shared?.cancel() }
        shared = nil
    }

    private var leaderClears: Bool { bug == .leaderClears || bug == .leaderAndRejectionsClear }

    private func endCancelledCall() async throws {
        switch bug {
        case .cancelledCallerLoads: return
        case .cancelledCallerWaits: await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        default: throw CancellationError()
        }
    }

    private func load() async throws -> AccessToken {
        let session = session
        defer { if session == self.session, !leaderClears, bug != .nobodyClears { shared = nil } }
        let new = try await loader.load(replacing: nil)
        if bug == .keepsTheTokenLate, session == self.session {
            await Ledger().note()
            current = new
            return new
        }
        switch bug {
        case _ where session == self.session, .signOutTrustsInCancellation: current = new
        case .waitersGetTheLateToken: break
        default: throw AccessTokenError.signedOut
        }
        return new
    }
}
