import AccessTokenSynchronization
import ContractHarness

/// Callers who call again as soon as they are answered, for clauses of several chapters.
extension ServiceContract {
    /// Who is held on the way from its answer to its next call; the order of handlers is the subject's alone.
    enum HeldCallers: String, ClauseSituation {
        case nobody = "no caller is held"
        case allButTheFirst = "all callers but the first are held when they are answered"
        case theFirst = "the first caller is held when it is answered"

        var indices: Range<Int> {
            switch self {
            case .nobody: 0..<0
            case .allButTheFirst: 1..<6
            case .theFirst: 0..<1
            }
        }

        static func all(_ features: ContractFeatures) -> [HeldCallers] {
            features.contains(.asyncCallers) ? [.nobody, .allButTheFirst, .theFirst] : [.nobody]
        }
    }

    /// Callers of a load that did not help them call again at once, while others of them are still being answered.
    ///
    /// Those who are held when they get their answer go on when the others have called again, and have a load or an
    /// answer: what they clear then is not their own.
    static func callersCallAgain(
        _ run: ClauseRun,
        holding situation: HeldCallers,
        whenGiven result: LoadResult,
        rejecting rejected: AccessToken? = nil,
        andThen second: AccessToken? = nil,
        refresh: Bool = false
    ) async throws -> [Caller] {
        let again = Locked<[Caller]>([])
        let held = situation.indices
        var callers: [Caller] = []
        for number in 0..<6 {
            let priority: TaskPriority? = held.isEmpty ? nil : held.contains(number) ? .low : .high
            let caller = try await run.call(priority: priority) { caller in
                run.callAgain(rejecting: rejected, refresh: refresh, for: caller) { next in
                    again.withLock { $0.append(next) }
                }
            }
            callers.append(caller)
            // On the way into an actor, others would overtake the first caller: it would not be the one that loads.
            if number == 0 { try await run.firstLoad() }
        }
        let load = run.fixture.loader.loads[0]
        await run.settle()
        try await run.given(.s1) { try run.expectOneLoadAtOnce() }
        for caller in callers[held] { caller.lane.hold() }
        try await run.given(rejected == nil ? .d10 : .d5) { try await run.answer(load, result) }
        let (loader, others) = (run.fixture.loader, callers.count - held.count)
        await run.comes {
            let again = again.withLock { $0 }
            return again.count >= others && (loader.loads.count > 1 || again.allSatisfy { !$0.answers.isEmpty })
        }
        await run.settle()
        if let second {
            let load = try await run.given(.i1) { try await run.nextLoad() }
            try await run.answer(load, .success(second))
            await run.settle()
        }
        for caller in callers[held] {
            caller.lane.release()
            await run.settle()
        }
        return again.withLock { $0 }
    }
}

extension ClauseRun {
    /// Calls again where a caller was answered, after a rejection if there is one to make: inside its handler, or in a
    /// task.
    func callAgain(
        rejecting rejected: AccessToken?,
        refresh: Bool,
        for caller: Caller,
        then called: @escaping @Sendable (Caller) -> Void
    ) {
        let name = "\(caller.name), again"
        guard let rejected, let service = service.withLock({ $0 }), let invalidate = service.invalidate else {
            return called(callInside(name, refresh: refresh, priority: .high))
        }
        let reject: @Sendable () async -> Void = { [self] in
            log.happened("\(log.name(rejected)) is rejected")
            await invalidate(rejected)
            called(callInside(name, priority: .high))
            log.check()
        }
        switch service.call {
        case .handler: Lane.startHere(reject)
        case .task: caller.lane.start(priority: .high, reject)
        }
    }
}
