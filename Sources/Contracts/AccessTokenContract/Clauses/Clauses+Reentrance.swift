import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness

extension ClauseID {
    static let d5: ClauseID = "D5"
    static let d6: ClauseID = "D6"
    static let d7: ClauseID = "D7"
    static let d8: ClauseID = "D8"
    static let d9: ClauseID = "D9"
    static let d10: ClauseID = "D10"
    static let d11: ClauseID = "D11"
    static let r1: ClauseID = "R1"
    static let r2: ClauseID = "R2"
}

extension ServiceContract {
    /// Handlers and loaders that do more than answer: they call the service, outlive it, or answer at another time.
    static let reentrance = [d5, d6, d7, d8, d9, d10, d11]

    static let d5 = ContractClause(
        (.d5, .critical),
        "let a handler call the service again, without a deadlock",
        intent: "handlers do what comes next, and what comes next often needs a token",
        remedy: "release locks before handlers are called",
        resembles: "Alamofire PR #3322: a lock that is taken twice",
        situations: HandlerCall.all
    ) { run, call in
        try await handler(call, run)
    }

    static let d6 = ContractClause(
        (.d6, .critical),
        "answer all waiters also when the last reference to the service is dropped during the load",
        intent: "a screen that owns the service goes away, and the request that waits must still end",
        remedy: "let the load hold the service until its waiters are answered, instead of [weak self]; a subject "
            + "whose handlers hold the service hides this bug",
        resembles: "p2/OAuth2 and the articles' [weak self]: callbacks are lost"
    ) { run in
        let token = run.token("T1")
        let callers = try await run.calls(3)
        let load = try await run.firstLoad()
        await run.settle()
        for caller in callers { caller.forgetCancel() }
        try await run.dropService()
        try await run.answer(load, .success(token))
        try await run.expectAnswers(to: callers, whenLoadsEndWith: .success(token))
    }

    static let d7 = ContractClause(
        (.d7, .critical),
        "take a loader's first answer and ignore any other",
        intent: "networking code that calls back twice exists, and the second answer may be an error",
        remedy: "give each load a number, and drop an answer of one that has ended",
        needs: .callbackLoader,
        situations: SecondAnswer.all
    ) { run, answer in
        let (first, second) = (run.token("T1"), run.token("T2"))
        if case .duringANewerLoad(let end, let again) = answer {
            return try await newerLoadIsLeftAlone(run, end, again)
        }
        let (caller, load) = try await run.loaded(first)
        try await run.answer(load, .success(second))
        try await run.answer(load, .failed)
        await run.settle()
        try run.expectOneAnswer(to: caller)
        try await run.expect([run.call("later caller")], getAtLast: first)
    }

    static let d8 = ContractClause(
        (.d8, .critical),
        "work with a loader that answers before load returns",
        intent: "a loader that has the token at hand calls back at once",
        remedy: "register the waiter before the loader is called, and call it outside of locks",
        resembles: "Alamofire 5.2.2 and okta 1.5.0: a lock is held around the request"
    ) { run in
        let token = run.token("T1")
        run.fixture.loader.insideLoad { $0.answer(.success(token)) }
        run.fixture.loader.duringLoad { $0.answer(.success(token)) }
        let callers = try await run.calls(3)
        // A service that loads before it is asked has done so already.
        try await run.expect(callers, getAtLast: token)
    }

    static let d9 = ContractClause(
        (.d9, .serious),
        "show a handler the state that its answer comes from",
        intent: "a handler that asks what is cached, and is told nothing, signs the user out",
        remedy: "change the state before handlers are called",
        needs: .currentToken
    ) { run in
        let token = run.token("T1")
        let answer = Locked<AccessToken??>(nil)
        let caller = try await run.call { _ in
            run.callInside("the current token is asked for") { service in
                let current = await service.currentToken?() ?? nil
                answer.withLock { $0 = .some(current) }
                run.log.check()
            }
        }
        try await run.given(.l1) {
            try await run.answer(run.firstLoad(), .success(token))
            try await run.expect(caller, gets: token)
        }
        let hasReturned = try await run.wait { answer.withLock { $0 != nil } }
        try run.expect(hasReturned, "the closure currentToken: to return", observed: "it does not")
        let current = answer.withLock { $0 ?? nil }
        let observed = current.map { "it is \(run.log.name($0))" } ?? "there is none"
        let isCurrent = current?.value == token.value
        try run.expect(isCurrent, "the caller to find T1 as the current token", observed: observed)
    }

    static let d10 = ContractClause(
        (.d10, .critical),
        "let a handler that was given an error call the service again, without a deadlock",
        intent: "an error is where code tries again at once, and where its tests do not look",
        remedy: "release locks before handlers are called, and forget the failed load before that",
        resembles: "okta 1.5.0: a caller that tries again inside its error handler deadlocks",
        situations: HandlerCall.all
    ) { run, call in
        try run.takeForGranted(.f2)
        try await handler(call, run, whenLoadsFailWith: ContractLoadError(number: 1))
    }

    static let d11 = ContractClause(
        (.d11, .minor),
        "report a loader's second answer as an event",
        intent: "the networking code that calls back twice is found and mended",
        remedy: "pass an event to the fixture's onEvent where the second answer is dropped",
        isConvention: true,
        needs: [.callbackLoader, .events]
    ) { run in
        let token = run.token("T1")
        let (_, load) = try await run.loaded(token)
        try await run.given(.d7) { try await run.answer(load, .success(token)) }
        let isReported = try await run.wait { run.log.events.contains(.init(.ignoredRepeatedAnswer, load: 1)) }
        try run.expect(isReported, "an event that says so", observed: "no such event")
    }

    static let loaderCalls = [r1, r2]

    static let r1 = ContractClause(
        (.r1, .critical),
        "answer a loader that asks its own service for a token with an error, not with a deadlock",
        intent: "a loader that sends its request through the app's own session waits for itself",
        remedy: "remember that the present code is inside a load, in a task-local value or on the loader's queue",
        needs: .loaderRecognition,
        situations: LoaderCall.all
    ) { run, call in
        try await run.expectFailure(loaderAsks(run, refresh: call == .refresh))
    }

    static let r2 = ContractClause(
        (.r2, .minor),
        "tell a loader that asks its own service so, by loadAskedItsOwnService",
        intent: "who reads that error knows what to mend",
        remedy: "give it an error of its own, and tell the suite by errors: which it is",
        isConvention: true,
        needs: .loaderRecognition
    ) { run in
        let loader = try await loaderAsks(run)
        try await run.given(.r1) { try await run.expectFailure(loader) }
        try await run.expect(loader, fails: AccessTokenError.loadAskedItsOwnService)
    }

    // MARK: D5, D10

    /// What a handler does.
    private enum HandlerCall: String, ClauseSituation {
        case retrieve, invalidate, signOut, signIn

        var name: String { "the handler calls \(rawValue)" }

        static func all(_ features: ContractFeatures) -> [HandlerCall] {
            let changes: [(ContractFeatures, HandlerCall)] = [
                (.invalidation, .invalidate), (.signOut, .signOut), (.signIn, .signIn),
            ]
            return [.retrieve] + changes.filter { features.contains($0.0) }.map(\.1)
        }
    }

    private static func handler(
        _ call: HandlerCall,
        _ run: ClauseRun,
        whenLoadsFailWith error: ContractLoadError? = nil
    ) async throws {
        let (token, new) = (run.token("T1"), run.token("new T"))
        let result: LoadResult = error.map { .failure($0) } ?? .success(token)
        let again = Locked<[Caller]>([])
        let isCalled = Locked(false)
        let hasReturned = Locked(false)
        let caller = try await run.call { _ in
            isCalled.withLock { $0 = true }
            if call == .retrieve {
                let caller = run.callInside("the handler")
                again.withLock { $0.append(caller) }
            } else {
                run.callInside(call.rawValue) { service in
                    switch call {
                    case .signOut: await service.signOut?()
                    case .signIn: await service.signIn?(new)
                    default: await service.invalidate?(token)
                    }
                }
            }
            hasReturned.withLock { $0 = true }
        }
        try await run.answer(run.firstLoad(), result)
        try await run.answerLoads(with: result, until: [caller])
        try await run.given(.l1) {
            let isThere = try await run.wait { isCalled.withLock { $0 } }
            try run.expect(isThere, "the first caller to be answered", observed: "no answer")
        }
        let isBack = try await run.wait { hasReturned.withLock { $0 } }
        let expected = "\(call) to return inside the handler"
        try run.expect(isBack, expected, observed: "it blocks the handler's thread")
        let callers = call == .retrieve ? again.withLock { $0 } : [try await run.call("later caller")]
        try await run.expectAnswers(to: callers, whenLoadsEndWith: result)
        guard call == .retrieve, error == nil else { return }
        for caller in callers { try await run.expect(caller, gets: token) }
    }

    // MARK: D7

    private enum Ending: String {
        case success = "a token"
        case failure = "an error"
    }

    private enum SecondAnswer: ClauseSituation {
        case afterTheLoad
        /// How the load ends before a newer one is started, and what it answers once more during that one.
        case duringANewerLoad(Ending, again: Ending)

        var name: String {
            switch self {
            case .afterTheLoad: "the second answer comes while no load is running"
            case .duringANewerLoad(let first, let again):
                "a load answers \(first.rawValue), and \(again.rawValue) while a newer load is running"
            }
        }

        static func all(_ features: ContractFeatures) -> [SecondAnswer] {
            let first: [Ending] = features.contains(.invalidation) ? [.failure, .success] : [.failure]
            return [.afterTheLoad]
                + first.flatMap { [.duringANewerLoad($0, again: .success), .duringANewerLoad($0, again: .failure)] }
        }
    }

    private static func newerLoadIsLeftAlone(_ run: ClauseRun, _ end: Ending, _ again: Ending) async throws {
        let (old, new) = (run.token("T1"), run.token("T2"))
        let earlier = try await run.call("earlier caller")
        let load = try await run.given(.l1) {
            let load = try await run.nextLoad()
            try await run.answer(load, end == .success ? .success(old) : .failed)
            // A service may try several times.
            if end != .success { try await run.failLoads(until: [earlier]) }
            _ = try await run.answer(of: earlier, expecting: "an answer")
            return load
        }
        if end == .success { try await run.invalidate(old) }
        let later = try await run.call("later caller")
        let newer = try await run.given(end == .success ? .i1 : .f2) { try await run.expectLoad(for: later) }
        try await run.answer(load, again == .success ? .success(old) : .failed)
        await run.settle()
        try run.expectWaiting(later)
        try await run.answer(newer, .success(new))
        try await run.expect(later, gets: new)
        try run.expectOneAnswer(to: earlier)
        try await run.expect([run.call("last caller")], getAtLast: new)
    }

    // MARK: R1, R2

    /// What a loader asks for.
    private enum LoaderCall: String, ClauseSituation {
        case retrieve = "the loader asks for a token"
        case refresh = "the loader asks for another token"

        static func all(_ features: ContractFeatures) -> [LoaderCall] {
            features.contains(.forcedRefresh) ? [.retrieve, .refresh] : [.retrieve]
        }
    }

    /// A caller inside the load: within the loader's call, or in its task.
    private static func loaderAsks(_ run: ClauseRun, refresh: Bool = false) async throws -> Caller {
        let asking = Locked<Caller?>(nil)
        let ask: @Sendable () -> Caller = {
            let caller = run.callInside("the loader", refresh: refresh, insideLoad: true)
            asking.withLock { $0 = caller }
            run.log.check()
            return caller
        }
        // A service may load when it is made: only a load that begins after this one can ask.
        await run.settle()
        for load in run.openLoads { try await run.answer(load, .failed) }
        await run.settle()
        run.takenLoads = run.fixture.loader.loads.count
        let first = run.takenLoads + 1
        // A service that loads for such a call would do so without end.
        run.fixture.loader.insideLoad { if $0.number == first { _ = ask() } }
        run.fixture.loader.duringLoad { load in
            guard load.number == first else { return }
            let caller = ask()
            await run.comes { !caller.answers.isEmpty }
        }
        try await run.call()
        return try await run.given(.l1) {
            try await run.nextLoad()
            await run.comes { asking.withLock { $0 } != nil }
            guard let loader = asking.withLock({ $0 }) else {
                throw run.violation("the loader to be called", "it was not")
            }
            return loader
        }
    }
}
