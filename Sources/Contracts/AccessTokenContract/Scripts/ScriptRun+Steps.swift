import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness
import Foundation

extension ScriptRun {
    /// Performs a step, waits until everything has come to rest, and judges what came of it.
    func perform(_ step: Step) async throws {
        log.happened("step ", step)
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
        case .answerAmidCalls:
            guard let load = load(.newest) else { return }
            try await answerAmidCalls(load)
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
        case .callRightAfter(let change): try await callRightAfter(change)
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
        guard features.contains(.events), run.subject.promises.contains(.d11),
            state.withLock({ $0.specification.reportsSecondAnswer(of: load.number) })
        else { return }
        let isReported = await run.comes { log.events.count { $0.kind == .ignoredRepeatedAnswer } > before }
        if !isReported { change { $0.unconventional(.d11, "an event for the second answer", "no such event") } }
    }

    /// A sign-out counts from its call on; it may wait for the load and for the loader before it returns.
    ///
    /// - Parameter next: called in the same task when the sign-out has returned.
    private func signOut(then next: (caller: Caller, number: Int)? = nil) async throws {
        log.happened("sign-out")
        guard let signOut = service?.signOut else { return }
        let lane = Lane("sign-out")
        state.withLock { $0.openSignOuts += 1 }
        try await run.perform("the closure signOut:", on: lane) { [self] in
            let task = lane.start { [self] in
                await signOut()
                state.withLock { $0.openSignOuts -= 1 }
                log.check()
                if let next { await callHere(next.caller, next.number) }
            }
            next?.caller.isCancelled(by: task)
        }
    }

    /// A change counts when its closure has returned, for the very next call of the same task as well.
    private func callRightAfter(_ change: Step.Change) async throws {
        let number = newNumber()
        let caller = newCaller(number)
        switch change {
        case .signOut:
            self.change { $0.signOut() }
            try await signOut(then: (caller, number))
        case .signIn:
            let (token, name) = newSession(.valid)
            self.change { $0.signIn(token, called: name) }
            log.happened("sign-in with \(name)")
            try await perform("signIn", then: caller, number) { await $0.signIn?(token) }
        case .reject:
            guard let token = token(.current) else { return }
            self.change { $0.reject(token) }
            log.happened("\(log.name(token)) is rejected")
            try await perform("invalidate", then: caller, number) { await $0.invalidate?(token) }
        }
    }

    private func perform(
        _ closure: String,
        then caller: Caller,
        _ number: Int,
        _ body: @escaping @Sendable (ContractService) async -> Void
    ) async throws {
        guard let service else { return }
        let hasReturned = Locked(false)
        try await run.perform("the closure \(closure):", on: caller.lane) { [self] in
            let task = caller.lane.start { [self] in
                await body(service)
                hasReturned.withLock { $0 = true }
                log.check()
                await callHere(caller, number)
            }
            caller.isCancelled(by: task)
        }
        guard try await run.wait(until: { hasReturned.withLock { $0 } }) else {
            throw run.violation("the closure \(closure): to return", "it does not")
        }
    }

    /// Calls in the present task, or on its thread.
    private func callHere(_ caller: Caller, _ number: Int) async {
        guard let call = service?.call else { return }
        note(.called(number, refresh: false, insideLoad: false, isNested: false))
        switch call {
        case .handler(let retrieve): caller.call(retrieve)
        case .task(let token): await caller.callHere(token)
        }
    }

    /// Callers come on four threads, the last ones some milliseconds after the answer: a store may be slow.
    private func answerAmidCalls(_ load: ControlledLoad) async throws {
        let (result, name) = result(of: load, .token)
        let lanes = (0..<4).map { Lane("caller \($0) amid the answer") }
        let startingLine = StartingLine(count: lanes.count + 1)
        let left = Locked(lanes.count)
        for (index, lane) in lanes.enumerated() {
            lane.run { [self] in
                startingLine.wait()
                for pause in [0, 0.0002, 0.0012 * Double(index * index)] {
                    if pause > 0 { Thread.sleep(forTimeInterval: pause) }
                    let number = newNumber()
                    note(.called(number, refresh: false, insideLoad: false, isNested: false))
                    run.start(newCaller(number))
                }
                left.withLock { $0 -= 1 }
                log.check()
            }
        }
        try await run.perform("the loader's callback", on: run.loaderLane) { [self] in
            startingLine.wait()
            note(.loadEnded(load.number, result.token, name: name, result.error))
            state.withLock { $0.lastAnswered = load }
            load.answer(result)
        }
        guard try await run.wait(until: { left.withLock { $0 } == 0 }) else {
            throw run.violation("calls from four threads to return", "some block their threads")
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
