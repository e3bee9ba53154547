import AccessTokenAdapters
import Dispatch

extension AccessTokenContract {
    static let delivery = [
        ContractClause(
            "D1",
            "answer every caller exactly once, also when cancel, answer, sign-out and deadline meet",
            intent: "a callback that is called twice or never breaks code that no one thinks to look at",
            policy: AccessTokenPolicy(leeway: 0, refreshAhead: 0, loadDeadline: 10),
            scenario: everyCallerIsAnsweredOnce
        ),

        ContractClause(
            "D2",
            "answer waiters in the order in which they came",
            intent: "who came first is served first, and a log of answers reads like the log of calls"
        ) { trial in
            let order = Locked<[Int]>([])
            let callers = (0..<8).map { number in
                trial.call { _ in order.withLock { $0.append(number) } }
            }
            let load = try await trial.load(1)
            await trial.settle()
            load.answer(.success(trial.token("T1")))
            for caller in callers { _ = try await trial.answer(of: caller, expecting: "T1") }
            _ = await trial.wait { order.withLock { $0.count } == callers.count }
            let observed = order.withLock { $0 }
            try trial.expect(
                observed == Array(0..<8),
                "answers in the order 1 to 8",
                observed: "\(observed.map { $0 + 1 })"
            )
        },

        ContractClause(
            "D3",
            "never call a handler before retrieveToken has returned",
            intent: "a handler that runs inside the call finds its caller's state half done, and locks still held"
        ) { trial in
            let token = trial.token("T1")
            let loading = await callOnQueue(trial)
            try await trial.load(1).answer(.success(token))
            try await trial.expect(loading, gets: token)
            let cached = await callOnQueue(trial)
            try await trial.expect(cached, gets: token)
            for caller in [loading, cached] {
                try trial.expect(
                    caller.details.allSatisfy { !$0.cameInsideTheCall },
                    "the handler to be called after the call",
                    observed: "\(caller.name)'s handler was called inside it"
                )
            }
        },

        ContractClause(
            "D4",
            "call handlers on the promised queue",
            intent: "code that was given the main queue touches views",
            needs: .deliveryQueue
        ) { trial in
            let token = trial.token("T1")
            let failing = trial.call("caller of a failing load")
            try await trial.load(1).answer(.failure(ContractLoadError(number: 1)))
            _ = try await trial.answer(of: failing, expecting: "an error")
            let loading = trial.call("caller of a load")
            let leaving = trial.call("cancelled caller")
            let load = try await trial.load(2)
            leaving.cancel()
            load.answer(.success(token))
            try await trial.expect(loading, gets: token)
            let cached = trial.call("caller with a cached token")
            try await trial.expect(cached, gets: token)
            _ = try await trial.answer(of: leaving, expecting: "an answer")
            var callers = [failing, loading, leaving, cached]
            if trial.features.contains(.signOut) {
                await trial.signOut()
                callers.append(trial.call("caller after sign-out"))
                _ = try await trial.answer(of: callers[4], expecting: "signedOut")
            }
            for caller in callers {
                try trial.expect(
                    caller.details.allSatisfy(\.wasOnPromisedQueue),
                    "\(caller.name)'s handler to be called on the queue",
                    observed: "it was called elsewhere"
                )
            }
        },

        ContractClause(
            "D5",
            "let a handler call the service again: no deadlock, and it sees the new state",
            intent: "handlers do what comes next, and what comes next often needs a token"
        ) { trial in
            let token = trial.token("T1")
            let again = CallerList()
            let present = Locked<AccessToken?>(nil)
            let caller = trial.call { _ in
                present.withLock { $0 = trial.currentToken }
                again.append(trial.call("the handler"))
            }
            try await trial.load(1).answer(.success(token))
            try await trial.expect(caller, gets: token)
            _ = await trial.wait { !again.callers.isEmpty }
            for inner in again.callers { try await trial.expect(inner, gets: token) }
            try trial.expectLoads(1)
            guard trial.features.contains(.currentToken) else { return }
            try trial.expect(
                present.withLock { $0 } == token,
                "the handler to find T1 as the current token",
                observed: "another one, or none"
            )
        },

        ContractClause(
            "D6",
            "answer all waiters also when the last reference to the service is dropped during the load",
            intent: "a screen that owns the service goes away, and the request that waits must still end"
        ) { trial in
            let token = trial.token("T1")
            let callers = trial.calls(3)
            let load = try await trial.load(1)
            await trial.settle()
            for caller in callers { caller.forgetCancel() }
            trial.dropService()
            load.answer(.success(token))
            for caller in callers { try await trial.expect(caller, gets: token) }
        },

        ContractClause(
            "D7",
            "take a loader's first answer and ignore (and report) any other",
            intent: "networking code that calls back twice exists, and the second answer may be an error",
            needs: .callbackLoader
        ) { trial in
            let (first, second) = (trial.token("T1"), trial.token("T2"))
            let caller = trial.call()
            let load = try await trial.load(1)
            load.answer(.success(first))
            try await trial.expect(caller, gets: first)
            load.answer(.success(second))
            load.answer(.failure(ContractLoadError(number: 1)))
            await trial.settle()
            try await trial.expect(trial.call("later caller"), gets: first)
            try trial.expectLoads(1)
            try trial.expect(
                caller.answers.count == 1,
                "one answer to \(caller.name)",
                observed: "\(caller.answers.count)"
            )
            try await trial.expect(event: .ignored(.repeatedAnswer(load: 1)))
        },

        ContractClause(
            "D8",
            "work with a loader that answers before load returns",
            intent: "a loader that has the token at hand calls back at once",
            needs: .callbackLoader
        ) { trial in
            let token = trial.token("T1")
            trial.fixture.loader.insideLoad { $0.answer(.success(token)) }
            let callers = trial.calls(3)
            for caller in callers { try await trial.expect(caller, gets: token) }
            try trial.expect(
                callers.allSatisfy { $0.details.allSatisfy { !$0.cameInsideTheCall } },
                "handlers to be called after their calls",
                observed: "one was called inside its call"
            )
            try await trial.expect(trial.call("later caller"), gets: token)
            try trial.expectLoads(1)
        },
    ]

    /// Every two events that end a wait, close together and in both orders, as far as the subject has them.
    private static func everyCallerIsAnsweredOnce(_ trial: Trial) async throws {
        var number = 0
        var all: [Caller] = []
        func meet(_ ends: [Ending]) async throws {
            for order in [ends, ends.reversed()] {
                let callers = trial.calls(3)
                number += 1
                let load = try await trial.load(number)
                if order.contains(.deadline) { await trial.waitUntilTimerRuns() }
                await trial.settle()
                for end in order {
                    switch end {
                    case .answer: load.answer(.failure(ContractLoadError(number: number)))
                    case .cancel: callers[0].cancel()
                    case .deadline: trial.advance(by: 10)
                    case .signOut: await trial.signOut()
                    }
                }
                for caller in callers { _ = try await trial.answer(of: caller, expecting: "one answer") }
                all += callers
                guard order.contains(.signOut) else { continue }
                await trial.signIn(trial.token("S\(number)", life: 1))
                trial.advance(by: 1)
            }
        }
        var ends: [Ending] = [.answer]
        if trial.features.contains(.cancellation) { ends.append(.cancel) }
        if trial.features.contains(.loadDeadline) { ends.append(.deadline) }
        if trial.features.isSuperset(of: [.signOut, .signIn, .expiry]) { ends.append(.signOut) }
        for first in ends.indices {
            for second in ends.indices where second > first { try await meet([ends[first], ends[second]]) }
        }
        try await meet(ends)
        await trial.settle()
        for caller in all {
            let count = caller.answers.count
            try trial.expect(count == 1, "\(caller.name) to be answered once", observed: "\(count) answers")
        }
    }

    private enum Ending {
        case answer, cancel, deadline, signOut
    }

    /// Calls from the handlers' own queue, where a handler can only come inside the call or after it.
    private static func callOnQueue(_ trial: Trial) async -> Caller {
        await withCheckedContinuation { continuation in
            trial.fixture.queue.async { continuation.resume(returning: trial.call()) }
        }
    }
}
