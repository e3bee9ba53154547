import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness
import Dispatch

extension ClauseID {
    static let d1: ClauseID = "D1"
    static let d2: ClauseID = "D2"
    static let d3: ClauseID = "D3"
    static let d4: ClauseID = "D4"
}

extension ServiceContract {
    static let delivery = [d1, d2, d3, d4]

    static let d1 = ContractClause(
        (.d1, .critical),
        "answer every caller exactly once, also when cancel, answer, sign-out and deadline meet",
        intent: "a callback that is called twice or never breaks code that no one thinks to look at",
        remedy: "take a waiter out of its list before it is answered, under the same lock, on every path",
        resembles: "Nuke PR #671: a continuation is never resumed",
        setting: tenSeconds,
        situations: Meeting.all,
        scenario: everyCallerIsAnsweredOnce
    )

    static let d2 = ContractClause(
        (.d2, .minor),
        "answer waiters in the order in which they came",
        intent: "who came first is served first, and a log of answers reads like the log of calls",
        remedy: "answer the list of waiters from its beginning, on a serial queue or one executor",
        isConvention: true,
        skips: { $0.promises.contains(.d2) ? nil : "not promised" }
    ) { run in
        let order = Locked<[Int]>([])
        var callers: [Caller] = []
        // On one lane: on several, the order of the threads is not the subject's.
        let lane = Lane("callers")
        for number in 1...8 {
            callers.append(try await run.call(on: lane) { _ in order.withLock { $0.append(number) } })
        }
        let load = try await run.firstLoad()
        await run.settle()
        try await run.answer(load, .success(run.token("T1")))
        try await run.given(.s1) {
            for caller in callers { _ = try await run.answer(of: caller, expecting: "T1") }
            await run.comes { order.withLock { $0.count } == 8 }
        }
        let observed = order.withLock { $0 }
        try run.expect(observed == Array(1...8), "answers in the order 1 to 8", observed: "\(observed)")
    }

    static let d3 = ContractClause(
        (.d3, .serious),
        "never call a handler before retrieveToken has returned",
        intent: "a handler that runs inside the call finds its caller's state half done, and locks still held",
        remedy: "dispatch the answer, also when it is at hand",
        isConvention: true
    ) { run in
        let token = run.token("T1")
        let loading = try await run.call()
        if case .task = run.service.withLock({ $0?.call }) {
            throw Unjudged(outcome: .skipped("its callers are tasks"))
        }
        try await run.given(.l1) {
            try await run.answer(run.nextLoad(), .success(token))
            try await run.expect(loading, gets: token)
        }
        let later = try await run.call()
        // That it is answered at all is for others to judge.
        try await run.answerLoads(with: .success(token), until: [later], accusing: { nil })
        for caller in [loading, later] where caller.details.contains(where: \.cameInsideTheCall) {
            let observed = "\(caller.name)'s handler is called inside it"
            throw run.violation("the handler to be called after the call", observed)
        }
    }

    static let d4 = ContractClause(
        (.d4, .serious),
        "call handlers on the promised queue",
        intent: "code that was given the main queue touches views",
        remedy: "dispatch every answer to the queue, also errors and those at hand",
        needs: .deliveryQueue,
        scenario: handlersAreOnTheirQueue
    )

    // MARK: D1

    private enum Ending: String {
        case failure = "a failure"
        case success = "a token"
        case cancel = "a cancellation"
        case deadline = "the deadline"
        case signOut = "a sign-out"
    }

    /// Events that end a wait, and meet.
    private enum Meeting: ClauseSituation {
        /// One after the other, without a rest between them.
        case inOrder([Ending])
        /// The answer, and a cancellation of each caller, each on a thread of its own.
        case onThreads(Ending)
        /// A hundred callers: whoever keeps waiters in a place of fixed size answers some of them.
        case aCrowd(Ending)

        var name: String {
            switch self {
            case .inOrder(let ends): "callers meet \(ends.map(\.rawValue).joined(separator: ", and then "))"
            case .onThreads(let answer): "callers on eight threads meet \(answer.rawValue)"
            case .aCrowd(let answer): "a hundred callers meet \(answer.rawValue)"
            }
        }

        /// Threads cannot be ordered, and are tried several times.
        static func all(_ features: ContractFeatures) -> [Meeting] {
            meetings(features).map(inOrder) + [.failure, .success, .failure, .success].map(onThreads)
                + [.failure, .success].map(aCrowd)
        }
    }

    /// Every two events that end a wait, in both orders, and all of them, as far as the subject has them.
    private static func meetings(_ features: ContractFeatures) -> [[Ending]] {
        var ends: [Ending] = [.failure]
        if features.contains(.cancellation) { ends.append(.cancel) }
        if features.contains(.loadDeadline) { ends.append(.deadline) }
        if features.contains(.signOut) { ends.append(.signOut) }
        var meetings = [ends, ends.reversed()]
        for first in ends.indices {
            for second in ends.indices where second > first {
                meetings += [[ends[first], ends[second]], [ends[second], ends[first]]]
            }
        }
        return meetings + ends.dropFirst().flatMap { [[.success, $0], [$0, .success]] }
    }

    private static func everyCallerIsAnsweredOnce(_ run: ClauseRun, when meeting: Meeting) async throws {
        let token = LoadResult.success(run.token("T1"))
        let callers: [Caller]
        switch meeting {
        case .inOrder(let ends):
            if ends.contains(.deadline) { try run.takeForGranted(.t1) }
            callers = try await run.calls(3)
            let load = try await run.firstLoad()
            if ends.contains(.deadline) { await run.waitUntilTimerRuns() }
            await run.settle()
            for end in ends {
                switch end {
                case .failure: try await run.answer(load, .failed)
                case .success: try await run.answer(load, token)
                case .cancel: try await run.cancel(callers[0])
                case .deadline: try await run.advance(by: 11)
                case .signOut: try await run.signOut()
                }
            }
        case .onThreads(let answer):
            callers = try await run.callsAtOnce(8)
            let load = try await run.firstLoad()
            await run.settle()
            let result = answer == .failure ? .failed : token
            if run.features.contains(.cancellation) {
                try await run.cancelAndAnswerAtOnce(callers, load, result)
            } else {
                try await run.answer(load, result)
            }
        case .aCrowd(let answer):
            callers = try await run.calls(100, on: Lane("a crowd"))
            let load = try await run.firstLoad()
            await run.settle()
            try await run.answer(load, answer == .failure ? .failed : token)
        }
        // A caller may wait for a load of its own.
        try await run.answerLoads(with: .failed, until: callers)
        await run.settle()
        for caller in callers { try run.expectOneAnswer(to: caller) }
    }

    // MARK: D4

    private static func handlersAreOnTheirQueue(_ run: ClauseRun) async throws {
        let token = run.token("T1")
        var callers: [Caller] = []
        func call(_ name: String, answeredBy result: LoadResult) async throws {
            let caller = try await run.call(name)
            callers.append(caller)
            // That it is answered at all is for others to judge.
            try await run.answerLoads(with: result, until: [caller], accusing: { nil })
        }
        try await call("caller of a failing load", answeredBy: .failed)
        let leaving = try await run.call("cancelled caller")
        await run.settle()
        try await run.cancel(leaving)
        callers.append(leaving)
        try await call("caller of a load", answeredBy: .success(token))
        try await call("caller with a cached token", answeredBy: .success(token))
        if run.features.contains(.signOut) {
            try await run.signOut()
            try await call("caller after sign-out", answeredBy: .failed)
        }
        for caller in callers where !caller.details.allSatisfy(\.wasOnPromisedQueue) {
            throw run.violation("\(caller.name)'s handler to be called on the queue", "it was called elsewhere")
        }
    }
}
