import AccessTokenAsync
import AccessTokenCore

/// An actor with an array of waiters, small and right, so that one bug at a time can be planted in it.
///
/// All of these bugs are matters of order: called by one caller after the other, each of them behaves.
actor SmallService: AsyncAccessTokenProviding {
    enum Bug: Sendable {
        /// An invalidation throws the token away, whichever was rejected.
        case blindInvalidation
        /// A waiter is put in line by a task of its own.
        case registersOneHopLate
        /// What a cancellation needs is put down by a task of its own.
        case storesTicketOneHopLate
        /// After an error the waiters are forgotten later than they were looked up.
        case failureLeaksWaiters
        /// One cancelled waiter ends the wait of all.
        case oneWaiterCancelsAll
        /// A load looks up the session when it has answered, not when it began.
        case signOutUndone
        /// Every effect is a task of its own; tasks keep no order.
        case effectsOutOfOrder
        /// A load that has timed out clears whatever flight there is when it answers.
        case clearsNewerFlights
    }

    private struct Waiter: Sendable {
        let id: Int
        let resume: @Sendable (Result<AccessToken, any Error>) -> Void
    }

    private let surroundings: Subject.Surroundings
    private let bug: Bug?
    private var cached: AccessToken?
    private var isSignedOut = false
    private var session = 0
    private var flight: Int?
    private var waiters: [Waiter] = []
    private var tickets: Set<Int> = []
    private var lastID = 0
    private var deadline: AccessTokenTimer?

    init(_ surroundings: Subject.Surroundings, bug: Bug?) {
        self.surroundings = surroundings
        self.bug = bug
    }

    func token() async throws -> AccessToken {
        if let cached { return cached }
        if isSignedOut { throw AccessTokenError.signedOut }
        try Task.checkCancellation()
        lastID += 1
        let id = lastID
        return try await withTaskCancellationHandler {
            try await unsafe withUnsafeThrowingContinuation { continuation in
                let waiter = Waiter(id: id) { result in unsafe continuation.resume(with: result) }
                if bug == .registersOneHopLate, flight != nil {
                    hop { $0.waiters.append(waiter) }
                } else {
                    register(waiter)
                }
            }
        } onCancel: {
            Task(executorPreference: surroundings.stage.executor) { await self.cancel(id) }
        }
    }

    func invalidate(_ rejected: AccessToken) {
        if cached == rejected || bug == .blindInvalidation { cached = nil }
    }

    func signOut() async {
        isSignedOut = true
        session += 1
        cached = nil
        endFlight(with: .failure(AccessTokenError.signedOut))
        await surroundings.loader.signOut()
    }

    private func hop(_ body: @escaping @Sendable (isolated SmallService) -> Void) {
        Task(executorPreference: surroundings.stage.executor) { await body(self) }
    }

    private func register(_ waiter: Waiter) {
        let id = waiter.id
        waiters.append(waiter)
        if bug == .storesTicketOneHopLate {
            hop { $0.tickets.insert(id) }
        } else {
            tickets.insert(id)
        }
        if flight == nil { startFlight() }
    }

    private func cancel(_ id: Int) {
        guard tickets.remove(id) != nil, let index = waiters.firstIndex(where: { $0.id == id }) else { return }
        if bug == .oneWaiterCancelsAll {
            resumeAll(with: .failure(CancellationError()))
        } else {
            waiters.remove(at: index).resume(.failure(CancellationError()))
        }
    }

    private func startFlight() {
        lastID += 1
        let (id, session) = (lastID, session)
        flight = id
        effect { $0.setDeadline(of: id) }
        Task(executorPreference: surroundings.stage.executor) { [surroundings] in
            let result: Result<AccessToken, any Error>
            do {
                result = .success(try await surroundings.loader.load(replacing: nil))
            } catch {
                result = .failure(error)
            }
            await self.loadFinished(id, of: session, result)
        }
    }

    private func loadFinished(_ id: Int, of session: Int, _ result: Result<AccessToken, any Error>) async {
        guard session == self.session || bug == .signOutUndone else { return }
        guard flight == id else {
            if bug == .clearsNewerFlights { flight = nil }
            if case .success(let token) = result, cached == nil { cached = token }
            return
        }
        switch result {
        case .success(let token):
            cached = token
        case .failure where bug == .failureLeaksWaiters:
            let failed = waiters
            await surroundings.stage.pause("the failure is logged")
            for waiter in failed { waiter.resume(result) }
            waiters = []
        case .failure:
            break
        }
        endFlight(with: result)
    }

    private func endFlight(with result: Result<AccessToken, any Error>) {
        flight = nil
        effect { $0.cancelDeadline() }
        resumeAll(with: result)
    }

    private func resumeAll(with result: Result<AccessToken, any Error>) {
        let all = waiters
        waiters = []
        for waiter in all { waiter.resume(result) }
    }

    private func effect(_ body: @escaping @Sendable (isolated SmallService) -> Void) {
        if bug == .effectsOutOfOrder { hop(body) } else { body(self) }
    }

    private func setDeadline(of flight: Int) {
        guard let seconds = surroundings.policy.loadDeadline else { return }
        deadline = surroundings.clock.schedule(after: seconds) { [surroundings] in
            Task(executorPreference: surroundings.stage.executor) { await self.timeOut(flight) }
        }
    }

    private func cancelDeadline() {
        deadline?.cancel()
        deadline = nil
    }

    private func timeOut(_ id: Int) {
        if flight == id { endFlight(with: .failure(AccessTokenError.loadTimedOut)) }
    }
}
