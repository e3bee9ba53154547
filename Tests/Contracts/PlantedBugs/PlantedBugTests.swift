import AccessTokenAdapters
import AccessTokenContract
import AccessTokenSynchronization
import BuggyServices
import Foundation
import TestSupport
import Testing

@Suite("Planted bugs are caught by their clauses, and break no others", .takesTurnsToWait, .endsHangs)
struct PlantedBugTests {
    /// The bugs, each with all clauses that it breaks.
    ///
    /// Bugs that are a matter of order alone are not here: the explorer finds those.
    static let bugs: [BuggyService.Bug: [ClauseID]] = [
        .neverLoads: ["L1"], .neverCaches: ["C1"], .ignoresExpiration: ["C2", "C6"], .ignoresLeeway: ["C2"],
        .expiresOneInstantLate: ["C7"], .unknownExpirationIsExpired: ["C3"], .expiryEndsTheSession: ["C10"],
        .leewayTakesAll: ["C4"], .neverAnswersInWindow: ["C5"], .refreshesAheadForEachCall: ["C5"],
        .dropsWhatNobodyAwaits: ["C9", "X2"], .joinersLoad: ["S1", "S2"], .joinersLoadAfterExpiry: ["S1", "S2"],
        .decidesInTwoSteps: ["S1"], .clearsNewerLoads: ["S5", "S6", "D7"], .onlyTheFirstWaiterFails: ["F1", "D1"],
        .replacesErrors: ["F3"],
        .failuresStick: ["F2"], .failureDropsTheToken: ["C8", "T2"], .cancelledLoadStays: ["F4"],
        .loadsAgainAfterFailure: ["F5", "T2"], .failuresServeOneWaiter: ["F5"], .ignoresInvalidation: ["I1"],
        .blanketInvalidation: ["I2"], .invalidationDropsTheLoad: ["S2", "S4", "I3", "I5", "I7"],
        .manyRejectionsLoadTwice: ["I3"], .forgetsWhatIsReplaced: ["I4"], .refreshAnswersFromTheCache: ["I6"],
        .eachRefreshLoads: ["S3", "I7"], .signOutForgetsWaiters: ["O4", "D1"], .signOutUndoneByLateAnswer: ["O1"],
        .signOutIsACancellation: ["O5"], .loadsAfterSignOut: ["O3"], .loaderKeepsTheSession: ["O7"],
        .signInUndoneByLateAnswer: ["O2", "T2"], .signInFailsWaiters: ["O8"], .signInLeavesSignedOut: ["O6"],
        .cancelledWaiterWaits: ["X1"], .cancelledWaiterFailsAll: ["X4"], .cancelledWaiterStays: ["D1"],
        .cancellationIsSignOut: ["X5"], .lastOneOutEndsTheLoad: ["X2"], .lastOneOutEndsTheLoadAhead: ["X2"],
        .lastInFirstOut: ["D2"], .answersSixteen: ["D1"],
        .answersInsideTheCall: ["D3", "D4"],
        .answersBeforeTheStateChanges: ["I8", "D4", "D9"], .answersTokensUnderALock: ["D4", "D5", "D9"],
        .answersErrorsUnderALock: ["D4", "D10"], .weakSelf: ["D6"], .takesEveryAnswer: ["T2", "D7"],
        .swallowsRepeatedAnswers: ["D11"], .registersAfterLoading: ["D8"], .loadsUnderALock: ["D8"],
        .noDeadline: ["T1"], .timedOutLoadStays: ["T3"], .timedOutWaitersStay: ["T3", "D1"],
        .deadlineIsACancellation: ["T4"], .dropsLateAnswers: ["T2"], .signInForgetsTheExpiration: ["C2", "C5", "C6"],
        .loadsBesideALoadAhead: ["S2", "I7"], .newSessionJoinsTheOldLoad: ["S5"],
        .loadAheadFailsInSilence: ["F1"],
        .refreshLoadsBesideALoad: ["I7"], .signedInTokensStay: ["I1"], .endedLoadAnswersOn: ["I8"],
        .signOutUndoneByALoadAhead: ["O1"], .triesAgainAfterSignOut: ["O1"], .signOutOfNobodyIsIgnored: ["O3"],
        .signInUndoneByLateFailure: ["O2"], .changesNeedTheHandlersLock: ["D5", "D10"],
        .repeatedAnswerReachesTheNextLoad: ["D7"], .signInOverATokenIsIgnored: ["O2", "O6"],
        .secondSignOutIsIgnored: ["O3"],
        .refreshLoadsAfterSignOut: ["O3"], .expiredTokenIsCurrent: ["C6"], .timerOutlivesItsLoad: ["T1"],
        .forgetsTheStoredToken: ["C11"], .signInAfterAFailureIsIgnored: ["F6"], .joinerPostponesTheDeadline: ["T1"],
        .lateTokenNeverExpires: ["T2"], .storedTokenHasNoLeeway: ["C2"], .timerOutlivesItsSession: ["T1"],
        .refusedLoadAheadFailsInSilence: ["F1"], .loadsAgainForExpiredTokens: ["F5"],
        .signOutWaitsForTheLoader: ["O4"], .signOutEndsTwice: ["O6"],
        .lateForcedTokenReplacesNewer: ["T2"], .refusalOutlivesItsSession: ["F6"],
        .refusedRefreshEndsTheNextSession: ["O2"],
    ]

    /// The bugs of an actor with one shared task, each with all clauses that it breaks; `nil` is the actor without one.
    static let actorBugs: [BuggyActor.Bug?: [ClauseID]] = [
        nil: ["O4", "X1", "R1"], .unguarded: ["S1", "S2", "O4", "R1"],
        .everyCallerClears: ["S3", "S4", "O4", "X1", "R1"], .leaderClears: ["I8", "O4", "X1", "R1"],
        .leaderAndRejectionsClear: ["S4", "I7", "O4", "X1", "R1"],
        .everyCallerStores: ["I8", "O1", "O4", "X1", "R1"],
        .nobodyClears: ["F2", "I1", "I6", "O4", "X1", "R1"], .refreshJoinsNoOther: ["S3", "I7", "O4", "X1", "R1"],
        .anyoneCancelsTheLoad: ["O4", "X2", "X4", "R1"], .leaderCancelsTheLoad: ["O4", "X1", "X2", "X4", "R1"],
        .cancelledCallerLoads: ["O4", "X1", "X3", "R1"], .cancelledCallerWaits: ["O4", "X1", "X3", "R1"],
        .waitersGetTheLateToken: ["O1", "O4", "X1", "R1"], .signOutTrustsInCancellation: ["O1", "O4", "X1", "R1"],
    ]

    /// Bugs that another `await` opens, each with the clause that finds the bug by order, and what that one takes for
    /// granted.
    ///
    /// Other clauses may find the bug by chance.
    static let awaits: [(bug: BuggyActor.Bug, clause: ClauseID, needed: [ClauseID])] = [
        (.looksAtTheCacheFirst, "S7", ["L1", "C1", "S1", "S2"]), (.rejectionLooksFirst, "I3", ["L1", "S1", "I1"]),
        (.refreshLooksFirst, "I7", ["L1", "S1", "I6"]), (.keepsTheTokenLate, "O1", ["L1", "S1"]),
    ]

    /// Other services, each with all clauses that it breaks.
    static let others: [(subject: ContractSubject, broken: [ClauseID])] = [
        (PreloadingRenewer.subject(isRepaired: false), ["C6", "D7"]),
        (PreloadingRenewer.subject(isRepaired: true), ["D7"]),
        // A task can be cancelled although its service does not support that.
        (actorSubject(bug: .anyoneCancelsTheLoad, .asyncCallers), ["X2", "X4"]),
        (nameless, ["R2"]),
        // The small service compares no rejected tokens, and lets no load wait for one of a former session.
        (smallSubject(bug: nil, promises: ["I9", "O9"]), ["I9", "O9"]),
    ]

    @Test func `a small service without a bug keeps the contract`() async {
        for _ in 1...runs {
            let report = await Self.smallSubject(bug: nil).report()
            #expect(report.isKept, "\(report)")
        }
    }

    @Test(arguments: bugs.keys.sorted { $0.rawValue < $1.rawValue })
    func `in a small service`(_ bug: BuggyService.Bug) async {
        for _ in 1...runs {
            let report = await Self.report(on: Self.smallSubject(bug: bug), Self.bugs[bug, default: []], bug.rawValue)
            Self.expect(report, breaks: Self.bugs[bug, default: []])
        }
    }

    @Test func `each bug of the actor is tried`() {
        let tried = Set(Self.actorBugs.keys.compactMap(\.self)).union(Self.awaits.map(\.bug))
        #expect(tried == Set(BuggyActor.Bug.allCases))
    }

    @Test(arguments: awaits.indices)
    func `in an actor with one await too many`(_ index: Int) async {
        let (bug, clause, needed) = Self.awaits[index]
        for _ in 1...runs {
            let clauses = ServiceContract.clauses.filter { needed.contains($0.id) || $0.id == clause }
            let report = await ServiceContract.verify(
                Self.actorSubject(bug: bug),
                clauses: clauses,
                scripts: 0,
                timeLimit: Self.timeLimit,
                onProgress: nil
            )
            Self.expect(report, breaks: [clause])
        }
    }

    @Test(arguments: [nil] + BuggyActor.Bug.allCases.filter { actorBugs[$0] != nil })
    func `in an actor with a shared task`(_ bug: BuggyActor.Bug?) async {
        for _ in 1...runs {
            let broken = Self.actorBugs[bug, default: []]
            let report = await Self.report(on: Self.actorSubject(bug: bug), broken, bug?.rawValue ?? "none")
            Self.expect(report, breaks: broken)
        }
    }

    @Test(arguments: others.indices)
    func `in other services`(_ index: Int) async {
        let (subject, broken) = Self.others[index]
        for _ in 1...runs {
            let report = await subject.report(timeLimit: Self.timeLimit)
            Self.expect(report, breaks: broken)
        }
    }

    private static func report(on subject: ContractSubject, _ broken: [ClauseID], _ bug: String) async -> ContractReport
    {
        await ServiceContract.verify(
            subject,
            clauses: ServiceContract.clauses.some(including: broken, toTry: bug),
            scripts: 0,
            timeLimit: timeLimit,
            onProgress: nil
        )
    }

    /// The thread sanitizer holds threads up for so long that a bug can be missed: there, it counts that no other
    /// clause is broken.
    private static func expect(
        _ report: ContractReport,
        breaks broken: [ClauseID],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #if THREAD_SANITIZER
        let isRight = Set(report.brokenIDs).isSubset(of: broken)
        #else
        let isRight = report.brokenIDs == broken
        #endif
        #expect(isRight, "\(broken): \(report)", sourceLocation: sourceLocation)
    }

    @Test func `the load of a new session that begins at the end of the former one is not known to run`() async {
        let subject = ContractSubject("clears its flag late", features: [.signOut, .signIn, .invalidation]) { fixture in
            let service = LateFlagService(fixture.loader)
            return .retrieving {
                service.retrieve($0)
            } invalidate: {
                service.invalidate($0)
            } signIn: {
                service.signIn($0)
            } signOut: {
                service.signOut()
            }
        }
        let report = await subject.report(on: "L1", "S5", timeLimit: Self.timeLimit)
        Self.expect(report, breaks: ["S5"])
    }

    @Test func `a timer drops a token without expiration that has been there for a month`() async {
        let subject = ContractSubject("sweeps each minute", features: .invalidation) { fixture in
            let service = BuggyService(for: fixture, bug: nil)
            Sweeper(service, fixture.clock).waitAMinute()
            return .callback(service)
        }
        let report = await subject.report(on: "L1", "C1", "C3", timeLimit: Self.timeLimit)
        Self.expect(report, breaks: ["C3"])
    }

    @Test func `a service whose tokens always expire is asked about no other`() async {
        let features = Self.smallFeatures.union(.tokensAlwaysExpire)
        let subject = Self.smallSubject(bug: .unknownExpirationIsExpired, features)
        let report = await subject.report()
        #expect(report.isKept, "\(report)")
        #expect("\(report)".contains("skipped, its tokens always expire: C3"))
    }

    @Test func `a service that sets timers and knows no expiration is asked about no expired token`() async {
        let features: ContractFeatures = [
            .loadDeadline, .signIn, .signOut, .invalidation, .callbackLoader, .deliveryQueue,
        ]
        let report = await Self.smallSubject(bug: .ignoresExpiration, features).report(on: "L1", "O6", "S5", "T1")
        #expect(report.isKept, "\(report)")
    }

    enum ForcedCall: CaseIterable { case isRecognised, joinsTheLoad, loads }

    @Test(arguments: ForcedCall.allCases)
    func `a forced call that does not look whether it is made inside the load gets no error`(_ call: ForcedCall) async {
        let features: ContractFeatures = [.asyncCallers, .loaderRecognition, .forcedRefresh]
        let subject = ContractSubject("recognises calls", features: features) { fixture in
            let service = AsyncAccessTokenService(loader: fixture.loader)
            return .awaiting {
                try await service.token()
            } refresh: {
                switch call {
                case .isRecognised: try await service.token()
                // A detached task has none of the task-local values by which the service recognises its loader.
                case .joinsTheLoad: try await Task.detached { try await service.token() }.value
                case .loads: try await fixture.loader.load(replacing: nil)
                }
            }
        }
        let report = await subject.report(on: "L1", "R1", "R2", timeLimit: Self.timeLimit)
        Self.expect(report, breaks: call == .isRecognised ? [] : ["R1"])
    }

    @Test func `every clause has a planted bug`() {
        let tables = Self.bugs.values + Array(Self.actorBugs.values) + Self.others.map(\.broken)
        let caught = Set(tables.joined() + Self.awaits.map(\.clause) + [SlowStoreTests.clause])
        #expect(ServiceContract.clauses.map(\.id).filter { !caught.contains($0) } == [])
    }

    // MARK: Subjects

    /// Steps that never come are waited for in vain; those that come are not waited for by time.
    #if THREAD_SANITIZER  // Everything takes several times as long there.
    private static let timeLimit: TimeInterval = 2
    #else
    private static let timeLimit: TimeInterval = 0.5
    #endif

    private static let smallFeatures: ContractFeatures = [
        .expiry, .leeway, .refreshAhead, .invalidation, .signOut, .signIn, .cancellation, .loadDeadline,
        .currentToken, .deliveryQueue, .callbackLoader, .forcedRefresh, .events, .initialToken,
    ]

    static func smallSubject(
        bug: BuggyService.Bug?,
        _ features: ContractFeatures = smallFeatures,
        promises: Set<ClauseID> = ServiceContract.conventions.subtracting(["I9", "O9"])
    ) -> ContractSubject {
        ContractSubject("a small service", features: features, promises: promises) { fixture in
            let service = BuggyService(for: fixture, bug: bug)
            return ContractService.callback(
                service,
                refresh: { service.refreshToken(then: $0) },
                signIn: { service.signIn($0) },
                currentToken: { service.currentToken }
            )
        }
    }

    /// The queue service, whose errors stand for nothing.
    private static let nameless = ContractSubject(
        "nameless errors",
        features: .loaderRecognition,
        promises: ["R2"],
        errors: { _ in ContractLoadError(number: 0) },
        make: { .callback(AccessTokenService(loader: $0.loader)) }
    )

    private static let actorFeatures: ContractFeatures = [
        .invalidation, .signOut, .cancellation, .asyncCallers, .loaderRecognition, .currentToken, .forcedRefresh,
    ]

    static func actorSubject(
        bug: BuggyActor.Bug?,
        _ features: ContractFeatures = actorFeatures
    ) -> ContractSubject {
        ContractSubject("an actor with a shared task", features: features) { fixture in
            let service = BuggyActor(bug: bug, loader: fixture.loader)
            return .awaiting {
                try await service.token(forcingRefresh: false)
            } refresh: {
                try await service.token(forcingRefresh: true)
            } invalidate: { token in
                await service.invalidate(token)
            } signOut: {
                await service.signOut()
            } currentToken: {
                await service.current
            }
        }
    }
}

extension BuggyService {
    /// The small service as a fixture asks for it.
    convenience init(for fixture: ContractFixture, bug: Bug?) {
        self.init(
            token: fixture.initialToken,
            loader: fixture.loader,
            policy: fixture.policy,
            clock: fixture.clock,
            handlerQueue: fixture.handlerQueue,
            onEvent: fixture.onEvent,
            isRefusal: { ($0 as? ContractLoadError)?.kind == .permanent },
            bug: bug
        )
    }
}

/// Looks at the wall clock each minute, and rejects the token that has been there for thirty days.
private final class Sweeper: Sendable {
    private let clock: ManualClock
    private let seen = Locked<(token: AccessToken, at: Date)?>(nil)
    private weak let service: BuggyService?

    init(_ service: BuggyService, _ clock: ManualClock) {
        self.service = service
        self.clock = clock
    }

    func waitAMinute() {
        _ = clock.schedule(after: 60) { self.sweep() }
    }

    private func sweep() {
        guard let service else { return }
        defer { waitAMinute() }
        guard let token = service.currentToken else { return }
        let now = clock.now
        let since = seen.withLock { seen in
            if seen?.token != token { seen = (token, now) }
            return seen?.at ?? now
        }
        if now > since.addingTimeInterval(30 * 86_400) { service.invalidate(token) }
    }
}

/// Begins the next load, and says then that none is running.
private final class LateFlagService: Sendable {
    private struct State {
        var isSignedIn = true
        var session = 0
        var token: AccessToken?
        var isLoading = false
        var waiting: [AccessTokenHandler] = []

        /// Ends a session, and begins another one if there is a token for it.
        mutating func change(to new: AccessToken?) -> [AccessTokenHandler] {
            (isSignedIn, session, token) = (new != nil, session + 1, new)
            defer { waiting = [] }
            return waiting
        }
    }

    private let loader: ControlledLoader
    private let state = Locked(State())

    init(_ loader: ControlledLoader) { self.loader = loader }

    func retrieve(_ handler: @escaping AccessTokenHandler) {
        let answer = state.withLock { state -> LoadResult? in
            guard state.isSignedIn else { return .failure(AccessTokenError.signedOut) }
            if let token = state.token { return .success(token) }
            state.waiting.append(handler)
            return nil
        }
        if let answer { handler(answer) } else { begin() }
    }

    func invalidate(_ rejected: AccessToken) {
        state.withLock { if $0.token?.value == rejected.value { $0.token = nil } }
    }

    func signIn(_ token: AccessToken) {
        for handler in state.withLock({ $0.change(to: token) }) { handler(.success(token)) }
    }

    func signOut() {
        for handler in state.withLock({ $0.change(to: nil) }) { handler(.failure(AccessTokenError.signedOut)) }
    }

    private func begin() {
        let session = state.withLock { state -> Int? in
            guard !state.isLoading, !state.waiting.isEmpty else { return nil }
            state.isLoading = true
            return state.session
        }
        guard let session else { return }
        loader.load(replacing: nil) { [self] result in end(result, of: session) }
    }

    private func end(_ result: LoadResult, of session: Int) {
        let handlers = state.withLock { state -> [AccessTokenHandler] in
            state.isLoading = false
            guard state.session == session else { return [] }
            state.token = try? result.get()
            defer { state.waiting = [] }
            return state.waiting
        }
        for handler in handlers { handler(result) }
        begin()
        // The mistake: a load of the next session may have begun.
        state.withLock { $0.isLoading = false }
    }
}
