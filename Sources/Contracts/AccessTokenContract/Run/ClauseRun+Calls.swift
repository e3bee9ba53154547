import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness
import Dispatch

/// What scenarios do.
extension ClauseRun {
    /// Starts a caller; returns when its call has returned, or its task has suspended.
    @discardableResult
    func call(
        _ name: String? = nil,
        refresh: Bool = false,
        isCancelled: Bool = false,
        priority: TaskPriority? = nil,
        on lane: Lane? = nil,
        then react: (@Sendable (Caller) -> Void)? = nil
    ) async throws -> Caller {
        let caller = newCaller(name, on: lane, then: react)
        try await perform("\(caller.name)'s call", on: caller.lane) { [self] in
            start(caller, refresh: refresh, isCancelled: isCancelled, priority: priority)
        }
        return caller
    }

    @discardableResult
    func calls(_ count: Int, refresh: Bool = false, on lane: Lane? = nil) async throws -> [Caller] {
        var callers: [Caller] = []
        for _ in 0..<count { callers.append(try await call(refresh: refresh, on: lane)) }
        return callers
    }

    /// Starts this many callers at the same moment, each on its own thread.
    ///
    /// If `first` is given, all do that first, also at one moment.
    @discardableResult
    func callsAtOnce(
        _ count: Int,
        refresh: Bool = false,
        after first: (@Sendable (ContractService) async -> Void)? = nil
    ) async throws -> [Caller] {
        try await callAtOnce((0..<count).map { _ in newCaller(nil) }, refresh: refresh, after: first)
    }

    /// The same, for these callers.
    @discardableResult
    func callAtOnce(
        _ callers: [Caller],
        refresh: Bool = false,
        after first: (@Sendable (ContractService) async -> Void)? = nil
    ) async throws -> [Caller] {
        let count = callers.count
        let (startingLine, secondLine) = (StartingLine(count: count), StartingLine(count: count))
        let started = Locked(0)
        for caller in callers {
            caller.lane.run { startingLine.wait() }
            caller.lane.start { [self] in
                if let first, let service = service.withLock({ $0 }) {
                    await first(service)
                    secondLine.wait()
                }
                start(caller, refresh: refresh)
                // A task that was started has run its first part when the lane comes to this.
                caller.lane.run { [log] in
                    started.withLock { $0 += 1 }
                    log.check()
                }
            }
        }
        guard try await wait(until: { started.withLock { $0 } == count }) else {
            throw violation("\(count) calls from as many threads to return", "some block their threads")
        }
        return callers
    }

    /// Starts callers one after the other, and holds each when so many parts of its task have run.
    ///
    /// Each may reject a token before its call; the parts of that count as well. The callers go on, one after the other
    /// or together, when all have called and `meanwhile` has been done.
    func callsInLockstep(
        _ count: Int,
        parts: Int,
        rejecting rejected: AccessToken? = nil,
        refresh: Bool = false,
        goOnTogether: Bool = false,
        meanwhile: () async throws -> Void = {}
    ) async throws -> [Caller] {
        var callers: [Caller] = []
        // Also if a step fails: a lane that stays held keeps its caller, and an actor that the caller stands before.
        defer { for caller in callers { caller.lane.release() } }
        for _ in 0..<count {
            let caller = newCaller(nil)
            callers.append(caller)
            let hasReturned = Locked(false)
            caller.lane.hold(afterParts: parts) { [log] in log.check() }
            caller.lane.run { [self] in
                if let rejected {
                    log.happened("\(log.name(rejected)) is rejected")
                    caller.lane.start { [self] in
                        await service.withLock({ $0 })?.invalidate?(rejected)
                        start(caller, refresh: refresh)
                    }
                } else {
                    start(caller, refresh: refresh)
                }
                // The first part of the task comes before this.
                caller.lane.run { [log] in
                    hasReturned.withLock { $0 = true }
                    log.check()
                }
            }
            guard try await wait(until: { caller.lane.isHeld || hasReturned.withLock { $0 } }) else {
                throw violation("\(caller.name)'s call to return", "the call blocks its thread; \(situation)")
            }
            await settle()
            // A task that has come to rest after fewer parts stays where it is as well.
            caller.lane.hold()
        }
        try await meanwhile()
        for caller in callers {
            caller.lane.release()
            if !goOnTogether { await settle() }
        }
        return callers
    }

    /// Lets a load answer one caller, and starts three on as many threads while that caller's handler runs.
    ///
    /// The handler ends when all have called, or soon: they may have to wait for it.
    func callsDuringAHandler(answeredWith result: LoadResult) async throws -> [Caller] {
        let isInside = Locked(false)
        let goOn = DispatchSemaphore(value: 0)
        let first = try await call { [log] _ in
            isInside.withLock { $0 = true }
            log.check()
            _ = goOn.wait(timeout: .now() + 1)
        }
        let load = try await firstLoad()
        loaderLane.run { load.answer(result) }
        guard try await wait(until: { isInside.withLock { $0 } }) else {
            throw violation("\(first.name) to be answered", "no answer; \(situation)")
        }
        let callers = (0..<3).map { _ in newCaller(nil) }
        let called = Locked(0)
        for caller in callers {
            caller.lane.run { [self] in
                start(caller)
                called.withLock { $0 += 1 }
                log.check()
            }
        }
        _ = await log.wait(0.1) { called.withLock { $0 } == callers.count }
        goOn.signal()
        return callers
    }

    /// Lets a load answer, and then does something else to the service, while a caller is held.
    ///
    /// The held caller may stand at the door of an actor. Then both wait behind the caller, in this order, and an
    /// `await` between the load's end and what the service keeps of it lets the other one in.
    func answer(
        _ load: ControlledLoad,
        _ result: LoadResult,
        andThen what: String,
        _ change: @escaping @Sendable (ContractService) async -> Void
    ) async throws {
        let hasReturned = Locked(false)
        _ = try await callsInLockstep(1, parts: 1) {
            try await answer(load, result)
            await settle()
            begin(what, change) { hasReturned.withLock { $0 = true } }
            await settle()
        }
        _ = try await wait { hasReturned.withLock { $0 } }
    }

    /// Signs in; what happens then lets the subject's closure return, if that has waited for it.
    func signIn(_ token: AccessToken, andThen happen: @Sendable () -> Void) async throws {
        let hasReturned = Locked(false)
        begin("sign-in with \(log.name(token))") {
            await $0.signIn?(token)
        } whenDone: {
            hasReturned.withLock { $0 = true }
        }
        await settle()
        happen()
        _ = try await wait { hasReturned.withLock { $0 } }
    }

    /// Begins something on a thread of its own, and waits for nothing.
    private func begin(
        _ what: String,
        _ change: @escaping @Sendable (ContractService) async -> Void,
        whenDone done: @escaping @Sendable () -> Void
    ) {
        guard let service = service.withLock({ $0 }) else { return }
        log.happened(what)
        let lane = Lane(what)
        // As callers begin: with another priority it would not wait behind what came before it.
        lane.run { [log] in
            lane.start {
                await change(service)
                done()
                log.check()
            }
        }
    }

    /// Ends the wait of these callers and their load, all at the same moment, each on a thread of its own.
    func cancelAndAnswerAtOnce(_ callers: [Caller], _ load: ControlledLoad, _ result: LoadResult) async throws {
        let startingLine = StartingLine(count: callers.count + 1)
        for caller in callers {
            caller.lane.run {
                startingLine.wait()
                caller.cancel()
            }
        }
        try await perform("the loader's callback", on: loaderLane) {
            startingLine.wait()
            load.answer(result)
        }
    }

    /// Starts a caller where the present code runs: inside a handler, or inside a load.
    func callInside(
        _ name: String,
        refresh: Bool = false,
        insideLoad: Bool = false,
        priority: TaskPriority? = nil
    ) -> Caller {
        let caller = newCaller(name)
        start(caller, refresh: refresh, priority: priority, insideLoad: insideLoad)
        return caller
    }

    /// Does something else to the service where the present code runs; returns when the subject has returned, or
    /// suspended.
    func callInside(_ what: String, _ body: @escaping @Sendable (ContractService) async -> Void) {
        guard let service = service.withLock({ $0 }) else { return }
        log.happened("\(what) inside a handler")
        Lane.startHere { await body(service) }
    }

    func start(
        _ caller: Caller,
        refresh: Bool = false,
        isCancelled: Bool = false,
        priority: TaskPriority? = nil,
        insideLoad: Bool = false
    ) {
        guard let service = service.withLock({ $0 }) else { return }
        switch refresh ? service.refresh ?? service.call : service.call {
        case .handler(let retrieve):
            caller.call(retrieve)
        case .task(let token):
            caller.call(token, isCancelled: isCancelled, priority: priority, insideLoad: insideLoad)
        }
    }

    func cancel(_ caller: Caller) async throws {
        try await perform("cancelling \(caller.name)", on: lane) { caller.cancel() }
    }

    func invalidate(_ token: AccessToken) async throws {
        log.happened("\(log.name(token)) is rejected")
        _ = try await withService("invalidate") { await $0.invalidate?(token) }
    }

    /// Signs out; returns when the subject's closure has returned.
    ///
    /// While a load is running, the closure may rightly wait for that load, which the scenario answers later. Then the
    /// scenario goes on at once, and the trace says so.
    func signOut() async throws {
        log.happened("sign-out")
        guard let signOut = service.withLock({ $0?.signOut }) else { return }
        let lane = Lane("sign-out")
        let hasReturned = Locked(false)
        let mayWaitForLoad = !openLoads.isEmpty
        let lines = log.lines
        try await perform("the closure signOut:", on: lane) { [log] in
            lane.start {
                await signOut()
                hasReturned.withLock { $0 = true }
                log.check()
            }
        }
        let loader = fixture.loader
        let goesOn = { @Sendable in hasReturned.withLock { $0 } || loader.loads.contains(where: \.isOpen) }
        // A subject that is known to hang is not given the time of a slow one again.
        let isKnown = context.wording.id != .o3 && conditions.broken.contains(.o3)
        if !mayWaitForLoad, try await !(isKnown ? comes(goesOn) : wait(until: goesOn)) {
            let violation = violation("the closure signOut: to return", "it does not; \(situation)")
            throw context.wording.id == .o3 ? violation : NotJudged(judge: .o3, violation: violation)
        }
        // On its way through queues of a busy machine, it would end the session that the next step begins. It answers
        // those who wait, or cancels the load, where it arrives.
        if mayWaitForLoad, !conditions.broken.contains(.o4) {
            _ = await log.wait(0.5) { [log] in hasReturned.withLock { $0 } || log.lines > lines }
        }
        await settle()
        if !hasReturned.withLock({ $0 }) { log.happened("sign-out has not returned yet") }
    }

    func signIn(_ token: AccessToken) async throws {
        log.happened("sign-in with \(log.name(token))")
        _ = try await withService("signIn") { await $0.signIn?(token) }
    }

    func currentToken() async throws -> AccessToken? {
        try await withService("currentToken") { await $0.currentToken?() }
    }

    /// Lets a load answer; returns when the subject has returned from its callback.
    func answer(_ load: ControlledLoad, _ result: LoadResult) async throws {
        try await perform("the loader's callback", on: loaderLane) { load.answer(result) }
    }

    /// Lets time pass; returns when the timers that came due have fired.
    func advance(by seconds: Double) async throws {
        log.happened("\(seconds) s pass")
        try await perform("a timer of the fixture's clock", on: lane) { [fixture] in
            fixture.clock.advance(by: seconds)
        }
    }

    /// Lets go of the last reference to the service that the suite holds.
    func dropService() async throws {
        log.happened("the last reference to the service is dropped")
        try await perform("the end of the service", on: lane) { [self] in
            _ = service.withLock { $0.take() }
        }
    }

    // MARK: Code of the subject

    /// Runs code of the subject on a lane, and waits until the lane is free again.
    func perform(_ what: String, on lane: Lane, _ body: @escaping @Sendable () -> Void) async throws {
        let isDone = Locked(false)
        lane.run(body)
        lane.run { [log] in
            // The first part of a task that the body has started comes before this.
            lane.run {
                isDone.withLock { $0 = true }
                log.check()
            }
        }
        guard try await wait(until: { isDone.withLock { $0 } }) else {
            throw violation("\(what) to return", "the call blocks its thread; \(situation)")
        }
    }

    private func withService<Value: Sendable>(
        _ closure: String,
        _ body: @escaping @Sendable (ContractService) async -> Value?
    ) async throws -> Value? {
        guard let service = service.withLock({ $0 }) else { return nil }
        return try await value(of: "the closure \(closure):", on: lane) { await body(service) }
    }
}
