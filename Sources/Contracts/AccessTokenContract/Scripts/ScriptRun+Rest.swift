import AccessTokenAdapters

extension ScriptRun {
    /// Waits until nothing is missing and nothing happens any more, and judges what was seen.
    ///
    /// All may seem to be at rest where one thing has happened and the next has not: so both are looked at again.
    func rest() async throws {
        for _ in 0..<10 {
            let isThere = await comesToRest()
            await Settling(log: log, handlerQueue: run.fixture.handlerQueue, patience: effort.patience).wait()
            if !isThere || isAtRest() { break }
        }
        judge()
        guard features.contains(.currentToken), service != nil, !isOver else { return }
        let current = try await run.currentToken()
        change { $0.current(current) }
    }

    /// Whether the script has shown what it can.
    var isOver: Bool {
        state.withLock { $0.isSlow || $0.specification.isUndecided || !$0.specification.faults.isEmpty }
    }

    private func comesToRest() async -> Bool {
        do {
            let isThere =
                effort.waitsForSlowOnes
                ? try await run.wait(accusing: { [self] in missingID }) { [self] in isAtRest() }
                : await run.comes { [self] in isAtRest() }
            if !isThere { state.withLock { $0.wasSilent = true } }
            return isThere
        } catch {
            // What comes late is no fault; but the next step would come before it.
            log.happened("the subject is slow")
            state.withLock { $0.isSlow = true }
            return true
        }
    }

    private func isAtRest() -> Bool {
        let signOuts = run.fixture.loader.signOuts
        let hasOpenLoads = !run.openLoads.isEmpty
        return state.withLock { state in
            // Nothing is owed any more.
            if state.specification.isSpoiled { return true }
            guard state.openReactions.isEmpty, state.openSignOuts == 0 || hasOpenLoads else { return false }
            let specification = state.lookAhead()
            guard specification.faults.isEmpty, !specification.isUndecided, !specification.isSpoiled else {
                return true
            }
            guard specification.isForgotten(signOuts) else { return false }
            return specification.missing().map { specification.tolerated.contains($0.clause) } ?? true
        }
    }

    /// The clause that is broken if nothing more happens.
    private var missingID: ClauseID? { state.withLock { $0.lookAhead().missing()?.clause } }

    private func judge() {
        let loads = run.fixture.loader.loads
        let signOuts = run.fixture.loader.signOuts
        state.withLock { state in
            state.specification = state.lookAhead()
            state.events = []
            let cancelled = loads.filter { !$0.isOpen }.map(\.number)
            state.specification.loadsCancelled(cancelled)
            state.specification.forgotten(signOuts)
            // A caller that a blocked handler has made gets no answer for that reason.
            if let (number, wasGivenAToken) = state.openReactions.first {
                let expected = "what caller \(number)'s handler calls to return"
                state.specification.fault(wasGivenAToken ? .d5 : .d10, expected, "it blocks the handler's thread")
            }
            state.specification.judgeRest()
            if state.openReactions.isEmpty, state.openSignOuts > 0, loads.allSatisfy({ !$0.isOpen }) {
                let observed = "it does not; \(state.specification.facts.situation)"
                state.specification.fault(.o3, "the closure signOut: to return", observed)
            }
        }
    }
}

extension Specification {
    mutating func take(_ event: ScriptRun.Event) {
        switch event {
        case .loadStarted(let number, let time, let open, let replacing):
            loadStarted(number, at: time, beside: open, replacing: replacing)
        case .loadEnded(let number, let token, let name, let error): loadEnded(number, token, called: name, error)
        case .answered(let number, let result, let onQueue, let insideCall):
            answered(number, result, onQueue: onQueue, insideCall: insideCall)
        case .called(let number, let refresh, let insideLoad, let isNested):
            call(number, refresh: refresh, isNested: isNested, isInsideLoad: insideLoad)
        case .beginsToReject(let value): beginsToReject(value)
        case .rejected(let token): reject(token)
        case .signedOut:
            signOut()
            isChangedInside(bySignIn: false)
        case .signedIn(let token, let name):
            signIn(token, called: name)
            isChangedInside(bySignIn: true)
        case .found(let token, let given): found(token, given: given)
        }
    }

    /// Everything has come to rest: what is missing now does not come.
    mutating func judgeRest() {
        forgive()
        guard let missing = missing() else { return }
        fault(missing.clause, missing.expected, missing.observed)
    }
}
