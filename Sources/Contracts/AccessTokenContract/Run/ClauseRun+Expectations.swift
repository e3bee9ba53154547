import AccessTokenAdapters
import ContractHarness
import Dispatch

/// What scenarios wait for and expect.
extension ClauseRun {
    /// The next load, once it was started; a service that loads without being asked may have started it long ago.
    @discardableResult
    func nextLoad() async throws -> ControlledLoad {
        let number = takenLoads + 1
        let loader = fixture.loader
        if !wasSilent { _ = try await wait { loader.loads.count >= number } }
        guard loader.loads.count >= number else {
            try excuseRefusals()
            throw violation("load \(number) to be started", "it was not; \(situation)")
        }
        takenLoads = number
        return loader.loads[number - 1]
    }

    /// The first load, which answers a caller that found no token (L1).
    @discardableResult
    func firstLoad() async throws -> ControlledLoad {
        try await given(.l1) { try await nextLoad() }
    }

    /// A load for the caller: as soon as the caller has an answer without one, the wait is over.
    @discardableResult
    func expectLoad(for caller: Caller) async throws -> ControlledLoad {
        let taken = takenLoads
        try await waitForAnswerOrLoad(caller)
        if fixture.loader.loads.count == taken, let answer = caller.answers.first {
            if answer.token == nil { try excuseRefusals() }
            throw violation("load \(taken + 1) to be started", "\(caller.name) gets \(log.text(answer)) without it")
        }
        return try await nextLoad()
    }

    /// After so many loads the subject may refuse its callers, and begin no other load.
    private func excuseRefusals() throws {
        if let limit = subject.loadLimit, fixture.loader.loads.count >= limit { throw Excused() }
    }

    func waitForAnswerOrLoad(_ caller: Caller) async throws {
        let (loader, taken) = (fixture.loader, takenLoads)
        wasSilent = try await !wait { !caller.answers.isEmpty || loader.loads.count > taken }
    }

    // MARK: Answers

    func expect(_ caller: Caller, gets token: AccessToken) async throws {
        try await expect(caller, toGet: log.name(token)) { $0.token?.value == token.value }
    }

    /// A token without a load: as soon as one is started, the wait is over.
    func expect(_ caller: Caller, getsCached token: AccessToken) async throws {
        try await waitForAnswerOrLoad(caller)
        try expectLoads(takenLoads)
        try await expect(caller, gets: token)
    }

    /// A token that a load brings for the caller.
    func expect(_ caller: Caller, getsLoaded token: AccessToken) async throws {
        try await answer(expectLoad(for: caller), .success(token))
        try await expect(caller, gets: token)
    }

    /// A token that any load brings, or the cache: how often the service loads is for others to judge.
    func expect(_ callers: [Caller], getAtLast token: AccessToken) async throws {
        try await answerLoads(with: .success(token), until: callers)
        for caller in callers { try await expect(caller, gets: token) }
    }

    /// An answer, whichever; loads end with this result.
    func expectAnswers(to callers: [Caller], whenLoadsEndWith result: LoadResult) async throws {
        try await answerLoads(with: result, until: callers)
        for caller in callers { _ = try await answer(of: caller, expecting: "an answer") }
    }

    func expectOneAnswer(to caller: Caller) throws {
        let count = caller.answers.count
        try expect(count == 1, "one answer to \(caller.name)", observed: "\(count); \(situation)")
    }

    /// An error without a load: as soon as one is started, the wait is over.
    func expectRefusal(_ caller: Caller) async throws {
        try await waitForAnswerOrLoad(caller)
        try expectLoads(takenLoads)
        try await expectFailure(caller)
    }

    /// An answer that is an error, whichever.
    func expectFailure(_ caller: Caller) async throws {
        try await expect(caller, toGet: "an error") { $0.token == nil }
    }

    /// This error, or one that the subject's `errors:` says to stand for it.
    func expect<E: Error & Equatable>(_ caller: Caller, fails error: E) async throws {
        try await expect(caller, toGet: error.inReports) { $0.error.map(subject.errors) as? E == error }
    }

    func expectCancelled(_ caller: Caller) async throws {
        try await expect(caller, toGet: "CancellationError") { $0.error.map(subject.errors) is CancellationError }
    }

    private func expect(_ caller: Caller, toGet expected: String, _ isRight: (LoadResult) -> Bool) async throws {
        let result = try await answer(of: caller, expecting: expected)
        if !isRight(result) { throw violation("\(caller.name) to get \(expected)", log.text(result)) }
    }

    func expectWaiting(_ caller: Caller) throws {
        guard let result = caller.answers.first else { return }
        throw violation("\(caller.name) to wait on", log.text(result))
    }

    /// No load was started while another one was running.
    func expectOneLoadAtOnce() throws {
        // One that the service began by itself at a sign-in may run beside one of the former session.
        let asked = fixture.loader.loads.dropFirst(unaskedLoads)
        guard let load = asked.first(where: { $0.beside != nil }), let other = load.beside else { return }
        throw violation("one load at a time", "load \(load.number) was started while load \(other) was running")
    }

    /// No load was started since so many had been.
    func expectLoads(_ count: Int) throws {
        let loads = fixture.loader.loads.count
        guard loads > count else { return }
        throw violation(count == 0 ? "no load" : "no load after load \(count)", "load \(loads) was started")
    }

    func answer(of caller: Caller, expecting expected: String) async throws -> LoadResult {
        if !wasSilent { _ = try await wait { !caller.answers.isEmpty } }
        guard let answer = caller.answers.first else {
            throw violation("\(caller.name) to get \(expected)", "no answer; \(situation)")
        }
        return answer
    }

    /// Answers all loads that are running, and those that are started, until each of the callers has an answer.
    ///
    /// - Parameter accused: the clause that is broken if they get none, as for a wait.
    func answerLoads(
        with result: LoadResult,
        until callers: [Caller],
        accusing accused: (@Sendable () -> ClauseID?)? = nil
    ) async throws {
        let loader = fixture.loader
        // A subject that loads again after each error, for ever, is stopped by the count.
        for _ in 0..<(callers.count + 20) {
            wasSilent = try await !wait(accusing: accused) {
                callers.allSatisfy { !$0.answers.isEmpty } || loader.loads.contains(where: \.isOpen)
            }
            if wasSilent || callers.allSatisfy({ !$0.answers.isEmpty }) { return }
            for load in openLoads { try await answer(load, result) }
        }
    }

    /// Lets loads fail until each of the callers has its error; a service may try several times before that.
    func failLoads(with error: any Error = ContractLoadError(number: 1), until callers: [Caller]) async throws {
        try await answerLoads(with: .failure(error), until: callers)
        for caller in callers { try await expectFailure(caller) }
        takenLoads = fixture.loader.loads.count
    }

    // MARK: Waiting

    /// Waits for what leaves no trace, and looks at it less and less often; says whether it came.
    func poll(until condition: () async throws -> Bool) async rethrows -> Bool {
        let start = DispatchTime.now().uptimeNanoseconds
        var pause = 0
        while try await !condition() {
            guard Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9 < conditions.timeLimit else {
                return false
            }
            await settle()
            if pause > 0 { await TimeLimit.pause(milliseconds: pause) }
            pause = min(20, pause * 2 + 1)
        }
        return true
    }

    /// Waits until the subject has set the timer of a deadline.
    func waitUntilTimerRuns() async {
        _ = await poll { fixture.clock.pendingTimers > 0 }
    }

    /// Lets everything come to rest that is on its way; too short a rest can miss a bug, and never invents one.
    func settle() async {
        await Settling(log: log, handlerQueue: fixture.handlerQueue).wait()
    }

    // MARK: Words

    /// What the loads are about, for a wait that was in vain.
    var situation: String {
        let loads = fixture.loader.loads
        guard !loads.isEmpty else { return "no load was started" }
        let open = openLoads.map { "\($0.number)" }
        let running = open.isEmpty ? "none is running" : "running: load \(open.joined(separator: ", "))"
        return "loads started: \(loads.count), \(running)"
    }
}

extension LoadResult {
    static let failed = LoadResult.failure(ContractLoadError(number: 1))

    var token: AccessToken? { try? get() }
    var error: (any Error)? { if case .failure(let error) = self { error } else { nil } }
}
