import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness
import Dispatch

/// One script on one new service, held against the specification after each step.
///
/// Callers, handlers and the loader run on threads of the subject's choice. They only note what happens; it is judged
/// when all has come to rest, or when a step waits for that.
final class ScriptRun: Sendable {
    /// What happens beside the steps.
    enum Event {
        case loadStarted(Int, at: Double, beside: [Int], replacing: String?)
        case loadEnded(Int, AccessToken?, name: String, (any Error)?)
        case answered(Int, LoadResult, onQueue: Bool, insideCall: Bool)
        case called(Int, refresh: Bool, insideLoad: Bool, isNested: Bool)
        case beginsToReject(String)
        case rejected(AccessToken)
        case signedOut
        case signedIn(AccessToken, name: String)
        case found(AccessToken?, given: String)
    }

    struct State {
        var specification: Specification { didSet { preview = nil } }
        /// What happened since the specification was told last.
        var events: [Event] = []
        /// The specification as it will be when it has been told of the first of these.
        private var preview: (specification: Specification, events: Int)?
        var callers: [Int: Caller] = [:]
        var reactions: [Int: Step.Reaction] = [:]
        /// The reactions that have not returned, and whether their caller was given a token.
        var openReactions: [Int: Bool] = [:]
        var openSignOuts = 0
        var lastNumber = 0
        var sessions = 0
        var lastAnswered: ControlledLoad?
        /// The tokens that were handed out, or with which sessions began, in their order.
        var tokens: [AccessToken] = []
        var habits: Set<Step.Habit> = []
        var isSlow = false
        var wasSilent = false

        init(_ specification: Specification) { self.specification = specification }

        /// The specification as it will be when it has been told of all that has happened.
        mutating func lookAhead() -> Specification {
            var (ahead, told) = preview.take() ?? (specification, 0)
            for event in events[told...] { ahead.take(event) }
            preview = (ahead, events.count)
            return ahead
        }
    }

    /// A service that loads again inside the answer of a loader that answers at once would do so without end, and its
    /// stack would not: loads behind this one wait for a step that answers them.
    private static let mostLoadsAtOnce = 20

    let run: ClauseRun
    let effort: ScriptEffort
    let state: Locked<State>
    var log: RunLog { run.log }
    var features: ContractFeatures { run.features }
    var service: ContractService? { run.service.withLock { $0 } }

    init(_ subject: ContractSubject, _ script: Script, _ effort: ScriptEffort, tolerated: Set<ClauseID>) {
        self.effort = effort
        let wording = ServiceContract.clauses[0].wording
        var conditions = RunConditions(timeLimit: effort.timeLimit, isPatient: true)
        conditions.onSilence = effort.onSilence
        let context = RunContext(wording: wording, subject: subject, conditions: conditions)
        let setting = ClauseSetting(script.setting, initialToken: script.initialToken)
        let run = ClauseRun(context, setting)
        self.run = run
        let specification = Specification(
            subject,
            policy: script.setting.policy,
            now: run.fixture.clock.now,
            tolerated: tolerated,
            name: { run.log.name(AccessToken(value: $0)) }
        )
        state = Locked(State(specification))
    }

    func begin() async throws {
        run.fixture.loader.insideLoad { [self] in loadStarted($0) }
        run.fixture.loader.duringLoad { [self] load in
            guard let asking = loadStarted(load) else { return }
            await run.comes { !asking.answers.isEmpty }
        }
        if let token = run.fixture.initialToken {
            change { $0.start(with: token, called: log.name(token)) }
            state.withLock { $0.tokens.append(token) }
        }
        try await run.begin()
        try await rest()
    }

    func end() { run.end() }

    // MARK: What is noted

    func note(_ event: Event) {
        state.withLock { $0.events.append(event) }
        log.check()
    }

    func change(_ body: (inout Specification) -> Void) {
        state.withLock { body(&$0.specification) }
    }

    func newCaller(_ number: Int, then reaction: Step.Reaction? = nil) -> Caller {
        let caller = run.newCaller("caller \(number)") { [self] in wasAnswered(number, $0) }
        state.withLock { state in
            state.callers[number] = caller
            state.reactions[number] = reaction
        }
        return caller
    }

    func newNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Runs inside the loader; returns the caller that the loader is, if it asks its own service.
    @discardableResult
    private func loadStarted(_ load: ControlledLoad) -> Caller? {
        let open = run.openLoads.map(\.number).filter { $0 != load.number }
        let time = run.fixture.clock.elapsed
        note(.loadStarted(load.number, at: time, beside: open, replacing: load.replacing?.value))
        let habits = state.withLock { $0.habits }
        var asking: Caller?
        // Nobody can ask a service that was dropped.
        if habits.contains(.asksItsService), service != nil {
            let number = newNumber()
            note(.called(number, refresh: false, insideLoad: true, isNested: false))
            let caller = newCaller(number)
            run.start(caller, insideLoad: true)
            asking = caller
        }
        guard load.number <= Self.mostLoadsAtOnce else { return asking }
        if habits.contains(.answersAtOnce) { answerAtOnce(load, .token) }
        if habits.contains(.failsAtOnce) { answerAtOnce(load, .failure) }
        return asking
    }

    private func answerAtOnce(_ load: ControlledLoad, _ answer: Step.Answer) {
        let (result, name) = result(of: load, answer)
        note(.loadEnded(load.number, result.token, name: name, result.error))
        state.withLock { $0.lastAnswered = load }
        load.answer(result)
    }

    // MARK: What callers do when they are answered

    private func wasAnswered(_ number: Int, _ caller: Caller) {
        guard let detail = caller.details.last else { return }
        let token = detail.result.token
        let (onQueue, insideCall) = (detail.wasOnPromisedQueue, detail.cameInsideTheCall)
        let (reaction, last) = state.withLock { state -> (Step.Reaction?, AccessToken?) in
            state.events.append(.answered(number, detail.result, onQueue: onQueue, insideCall: insideCall))
            if let token, state.tokens.last != token { state.tokens.append(token) }
            let reaction = state.reactions.removeValue(forKey: number)
            if reaction != nil { state.openReactions[number] = token != nil }
            return (reaction, state.tokens.last)
        }
        log.check()
        guard let reaction else { return }
        react(reaction, number, rejecting: token ?? last, given: token)
        state.withLock { _ = $0.openReactions.removeValue(forKey: number) }
        log.check()
    }

    private func react(_ reaction: Step.Reaction, _ number: Int, rejecting last: AccessToken?, given: AccessToken?) {
        // Nobody holds a service that was dropped: a handler cannot call it.
        guard let service else { return }
        switch reaction {
        case .call, .refresh: callInside(refresh: reaction == .refresh)
        case .reject, .rejectAndCall:
            guard let last, let invalidate = service.invalidate else { return }
            note(.beginsToReject(last.value))
            log.happened("\(log.name(last)) is rejected inside caller \(number)'s handler")
            Lane.startHere { [self] in
                await invalidate(last)
                note(.rejected(last))
                if reaction == .rejectAndCall { callInside(refresh: false) }
            }
        case .signOut:
            note(.signedOut)
            run.callInside("sign-out") { await $0.signOut?() }
        case .signIn:
            let (token, name) = newSession(.valid)
            note(.signedIn(token, name: name))
            run.callInside("sign-in with \(name)") { await $0.signIn?(token) }
        case .currentToken:
            guard let given else { return }
            run.callInside("the current token is asked for") { [self] service in
                note(.found(await service.currentToken?() ?? nil, given: given.value))
            }
        }
    }

    private func callInside(refresh: Bool) {
        let number = newNumber()
        note(.called(number, refresh: refresh, insideLoad: false, isNested: true))
        run.start(newCaller(number), refresh: refresh)
    }
}
