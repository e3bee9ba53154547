import AccessTokenAdapters
import Dispatch

/// What scenarios wait for and expect.
extension ClauseRun {
    /// The next load, once it was started; a service that loads without being asked may have started it long ago.
    func nextLoad(line: Int = #line) async throws -> ControlledLoad {
        let number = takenLoads + 1
        let loader = fixture.loader
        guard try await wait(until: { loader.loads.count >= number }) else {
            throw violation("load \(number) to be started", "it was not; \(situation)", line)
        }
        takenLoads = number
        return loader.loads[number - 1]
    }

    func expect(_ caller: Caller, gets token: AccessToken, line: Int = #line) async throws {
        let result = try await answer(of: caller, expecting: log.name(token), line: line)
        guard case .success(let given) = result, given.value == token.value else {
            throw violation("\(caller.name) to get \(log.name(token))", text(result), line)
        }
    }

    /// A token without a load: as soon as one is started, the wait is over.
    func expect(_ caller: Caller, getsCached token: AccessToken, line: Int = #line) async throws {
        let (loader, taken) = (fixture.loader, takenLoads)
        _ = try await wait { !caller.answers.isEmpty || loader.loads.count > taken }
        try expectLoads(taken, line: line)
        try await expect(caller, gets: token, line: line)
    }

    /// A load for the caller: as soon as the caller has an answer without one, the wait is over.
    func expectLoad(for caller: Caller, line: Int = #line) async throws -> ControlledLoad {
        let (loader, taken) = (fixture.loader, takenLoads)
        _ = try await wait { !caller.answers.isEmpty || loader.loads.count > taken }
        if loader.loads.count == taken, let answer = caller.answers.first {
            throw violation("load \(taken + 1) to be started", "\(caller.name) gets \(text(answer)) without it", line)
        }
        return try await nextLoad(line: line)
    }

    /// An error without a load: as soon as one is started, the wait is over.
    func expectRefusal(_ caller: Caller, line: Int = #line) async throws {
        let (loader, taken) = (fixture.loader, takenLoads)
        _ = try await wait { !caller.answers.isEmpty || loader.loads.count > taken }
        try expectLoads(taken, line: line)
        try await expectFailure(caller, line: line)
    }

    /// An answer that is an error, whichever.
    func expectFailure(_ caller: Caller, line: Int = #line) async throws {
        let result = try await answer(of: caller, expecting: "an error", line: line)
        guard case .failure = result else {
            throw violation("\(caller.name) to get an error", text(result), line)
        }
    }

    /// This error, or one that the subject's `errors:` says to stand for it.
    func expect<E: Error & Equatable>(_ caller: Caller, fails error: E, line: Int = #line) async throws {
        let result = try await answer(of: caller, expecting: error.inReports, line: line)
        guard case .failure(let given) = result, subject.errors(given) as? E == error else {
            throw violation("\(caller.name) to get \(error.inReports)", text(result), line)
        }
    }

    func expectCancelled(_ caller: Caller, line: Int = #line) async throws {
        let result = try await answer(of: caller, expecting: "CancellationError", line: line)
        guard case .failure(let given) = result, subject.errors(given) is CancellationError else {
            throw violation("\(caller.name) to get CancellationError", text(result), line)
        }
    }

    func expectWaiting(_ caller: Caller, line: Int = #line) throws {
        guard let result = caller.answers.first else { return }
        throw violation("\(caller.name) to wait on", text(result), line)
    }

    /// No load was started while another one was running.
    func expectOneLoadAtOnce(line: Int = #line) throws {
        guard let load = fixture.loader.loads.first(where: { $0.beside != nil }), let other = load.beside else {
            return
        }
        throw violation("one load at a time", "load \(load.number) was started while load \(other) was running", line)
    }

    /// No load was started since so many had been.
    func expectLoads(_ count: Int, line: Int = #line) throws {
        let loads = fixture.loader.loads.count
        guard loads > count else { return }
        throw violation(count == 0 ? "no load" : "no load after load \(count)", "load \(loads) was started", line)
    }

    func answer(
        of caller: Caller,
        expecting expected: String,
        line: Int = #line
    ) async throws -> Result<AccessToken, any Error> {
        if !wasSilent { _ = try await wait { !caller.answers.isEmpty } }
        guard let answer = caller.answers.first else {
            throw violation("\(caller.name) to get \(expected)", "no answer; \(situation)", line)
        }
        return answer
    }

    /// Answers all loads that are running, and those that are started, until each of the callers has an answer; says
    /// whether it came to that.
    func answerLoads(
        with result: Result<AccessToken, any Error>,
        until callers: [Caller],
        line: Int = #line
    ) async throws -> Bool {
        let loader = fixture.loader
        // A subject that loads again after each error, for ever, is stopped by the count.
        for _ in 0..<(callers.count + 20) {
            let isGoingOn = try await wait {
                callers.allSatisfy { !$0.answers.isEmpty } || loader.loads.contains(where: \.isOpen)
            }
            guard isGoingOn else {
                wasSilent = true
                return false
            }
            if callers.allSatisfy({ !$0.answers.isEmpty }) { return true }
            for load in openLoads { try await answer(load, result, line: line) }
        }
        return false
    }

    /// Lets loads fail until each of the callers has its error; a service may try several times before that.
    func failLoads(
        with error: any Error = ContractLoadError(number: 1),
        until callers: [Caller],
        line: Int = #line
    ) async throws {
        _ = try await answerLoads(with: .failure(error), until: callers, line: line)
        for caller in callers { try await expectFailure(caller, line: line) }
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
            if pause > 0 {
                await withCheckedContinuation { done in TimeLimit.after(milliseconds: pause) { done.resume() } }
            }
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
        let running = open.isEmpty ? "none is running" : "running: \(open.joined(separator: ", "))"
        return "loads started: \(loads.count), \(running)"
    }

    func text(_ result: Result<AccessToken, any Error>) -> String {
        switch result {
        case .success(let token): log.name(token)
        case .failure(let error): error.inReports
        }
    }
}
