import AccessTokenAdapters
import ContractHarness
import Foundation

extension ScriptRun {
    /// Performs a step, waits until everything has come to rest, and judges what came of it.
    func perform(_ step: Step) async throws {
        log.happened("step \(step)")
        change { $0.begin(step) }
        switch step {
        case .retrieve(let refresh, let isCancelled, let reaction):
            let number = newNumber()
            change { $0.call(number, refresh: refresh, isCancelled: isCancelled) }
            let caller = newCaller(number, then: reaction)
            try await run.perform("\(caller.name)'s call", on: caller.lane) { [self] in
                run.start(caller, refresh: refresh, isCancelled: isCancelled)
            }
        case .crowd(let rejecting): try await crowd(rejecting)
        case .cancel(let which):
            guard let number = caller(which), let caller = state.withLock({ $0.callers[number] }) else { return }
            change { $0.cancel(number) }
            try await run.cancel(caller)
        case .answer(let answer, let which):
            guard let load = load(which) else { return }
            let (result, name) = result(of: load, answer)
            change { $0.loadEnded(load.number, result.token, called: name, result.error) }
            state.withLock { $0.lastAnswered = load }
            try await run.answer(load, result)
        case .again(let answer):
            guard let load = state.withLock({ $0.lastAnswered }) else { return }
            try await answerAgain(load, answer)
        case .reject(let which):
            guard let token = token(which) else { return }
            change { $0.reject(token) }
            try await run.invalidate(token)
        case .signIn(let kind):
            let (token, name) = newSession(kind)
            change { $0.signIn(token, called: name) }
            try await run.signIn(token)
        case .signOut:
            change { $0.signOut() }
            try await signOut()
        case .pass(let time):
            guard let seconds = seconds(time) else { return }
            try await pass(seconds)
        case .drop:
            for caller in state.withLock({ Array($0.callers.values) }) { caller.forgetCancel() }
            change { $0.drop() }
            try await run.dropService()
        case .loader(let habit):
            state.withLock { _ = $0.habits.insert(habit) }
            if habit == .ignoresCancellation { run.fixture.loader.ignoreCancellation() }
        }
        try await rest()
    }

    /// Four threads begin at one moment; each may reject the current token first, and they call at one moment then.
    private func crowd(_ rejecting: Bool) async throws {
        let rejected = rejecting ? token(.current) : nil
        if let rejected { change { $0.reject(rejected) } }
        let callers = (0..<4).map { _ in
            let number = newNumber()
            change { $0.call(number, refresh: false) }
            return newCaller(number)
        }
        guard let rejected else { return _ = try await run.callAtOnce(callers) }
        try await run.callAtOnce(callers) { await $0.invalidate?(rejected) }
    }

    private func answerAgain(_ load: ControlledLoad, _ answer: Step.Answer) async throws {
        change { $0.loadAnsweredAgain() }
        let log = log
        let reports = { log.events.count { $0.kind == .ignoredRepeatedAnswer } }
        let before = reports()
        switch answer {
        case .failure, .permanentFailure, .cancellation:
            try await run.answer(load, .failure(ContractLoadError(number: load.number)))
        default:
            try await run.answer(load, .success(run.token("second answer of load \(load.number)")))
        }
        guard features.contains(.events), run.subject.promises.contains("D11"),
            state.withLock({ $0.specification.reportsSecondAnswer(of: load.number) })
        else { return }
        let isReported = await run.comes { log.events.count { $0.kind == .ignoredRepeatedAnswer } > before }
        if !isReported { change { $0.unconventional("D11", "an event for the second answer", "no such event") } }
    }

    /// A sign-out counts from its call on; it may wait for the load and for the loader before it returns.
    private func signOut() async throws {
        log.happened("sign-out")
        guard let signOut = service?.signOut else { return }
        let lane = Lane("sign-out")
        state.withLock { $0.openSignOuts += 1 }
        try await run.perform("the closure signOut:", on: lane) { [self] in
            lane.start { [self] in
                await signOut()
                state.withLock { $0.openSignOuts -= 1 }
                log.check()
            }
        }
    }

    private func pass(_ seconds: Double) async throws {
        guard seconds < 0 else {
            change { $0.pass(seconds) }
            return try await run.advance(by: seconds)
        }
        change { $0.setBack(-seconds) }
        log.happened("the clock is set back")
        run.fixture.clock.setWallClock(to: run.fixture.clock.now.addingTimeInterval(seconds))
    }
}
