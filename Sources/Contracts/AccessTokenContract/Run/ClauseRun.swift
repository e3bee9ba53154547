import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness
import Dispatch
import Foundation

/// One run of one clause: a new service, what surrounds it, and the words in which scenarios are written.
///
/// Code of the subject runs on lanes, never where the scenario runs.
package final class ClauseRun: ScenarioRun {
    private struct State {
        var callers = 0
        var takenLoads = 0
        var unaskedLoads = 0
        var wasSilent = false
        /// The clauses to which the present step is left, the innermost one last.
        var judges: [ClauseID] = []
        /// Tokens that have ended, and the callers that must not get them.
        var ended: [(token: EndedToken, callers: [Caller])] = []
    }

    package static let usualSetting = ClauseSetting(.plain)

    package let context: RunContext<ContractSubject>
    private let setting: ClauseSetting
    let fixture: ContractFixture
    let service: Locked<ContractService?>
    /// Where the service is called for no caller in particular.
    let lane = Lane("calls")
    /// Where the loader calls its callbacks.
    let loaderLane = Lane("loader")
    private let state = Locked(State())

    var features: ContractFeatures { subject.features }

    package init(_ context: RunContext<ContractSubject>, _ setting: ClauseSetting) {
        self.context = context
        let log = context.log
        // Of today, for subjects with a clock of their own; of whole seconds, for exact sums of times.
        let clock = ManualClock(now: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded()))
        let token = setting.initialToken.map { kind in
            AccessToken(value: "secret-I", expiration: clock.now.addingTimeInterval(kind == .valid ? 3600 : -1))
        }
        if let token { log.name(token, setting.initialToken == .valid ? "I" : "expired I") }
        self.setting = setting
        fixture = ContractFixture(
            loader: ControlledLoader(log: log),
            clock: clock,
            policy: setting.policy,
            initialToken: token,
            handlerQueue: DispatchQueue(label: "AccessTokenContract.handlers"),
            onEvent: { log.happened($0) }
        )
        fixture.handlerQueue.setSpecific(key: promisedQueue, value: true)
        service = Locked(nil)
    }

    /// Another run of the same, on a service of its own: what is seen there is not in the trace of this one.
    func twin() -> ClauseRun {
        let twin = RunContext(
            wording: context.wording,
            subject: subject,
            situation: context.situation,
            conditions: conditions
        )
        return ClauseRun(twin, setting)
    }

    /// Makes the service, and sees that it has all that its subject declares.
    package func begin() async throws {
        // The service is kept here and nowhere else: D6 drops it.
        try await value(of: "the subject's make:", on: lane) { [self] in
            let new = await subject.make(fixture)
            service.withLock { $0 = new }
        }
        // A service that was not given its `signIn:` would be blamed for what it does not do then.
        let missing = service.withLock { $0 }?.missing(for: features) ?? []
        try expect(
            missing.isEmpty,
            "the ContractService of the subject to be made with \(missing.joined(separator: ", ")), as its features say",
            observed: "it was made without"
        )
        try check(subject.promises, areAmong: ServiceContract.conventions)
    }

    /// Lets go of the service and of what holds this run; the end of a service is code of the subject.
    package func end() {
        fixture.loader.forgetHooks()
        lane.run { [self] in _ = service.withLock { $0.take() } }
    }

    // MARK: What is taken for granted

    /// Runs steps that are for another clause to judge: if they fail, this one is not judged.
    func given<Value>(_ id: ClauseID, _ steps: () async throws -> Value) async throws -> Value {
        try takeForGranted(id)
        return try await leaving(to: id, steps)
    }

    /// Runs such steps also if the subject is known to break the other clause: here they may succeed all the same.
    func leaving<Value>(to id: ClauseID, _ steps: () async throws -> Value) async throws -> Value {
        state.withLock { $0.judges.append(id) }
        defer { state.withLock { _ = $0.judges.removeLast() } }
        do {
            return try await steps()
        } catch let violation as ContractViolation {
            throw NotJudged(judge: id, violation: violation)
        }
    }

    package var judgeID: ClauseID { state.withLock { $0.judges.last } ?? context.wording.id }

    package func excuse(_ violation: ContractViolation) -> any Error { faultOfAnEndedToken ?? violation }

    /// A caller got a token after its end: the situation says nothing, whenever the answer came.
    var faultOfAnEndedToken: NotJudged? {
        for (ended, callers) in state.withLock({ $0.ended }) {
            for caller in callers where caller.answers.first?.token?.value == ended.token.value {
                let expected = "\(caller.name) not to get \(log.name(ended.token))"
                // The clause about the end is broken then, also if it has not seen that by itself.
                let fault = ContractViolation(
                    clause: ended.by.judge.wording,
                    expected: expected,
                    observed: "the caller gets it",
                    situation: context.situation,
                    trace: log.trace
                )
                return NotJudged(judge: ended.by.judge.wording.id, violation: fault)
            }
        }
        return nil
    }

    func expect(_ callers: [Caller], notToGet ended: EndedToken) {
        state.withLock { $0.ended.append((ended, callers)) }
    }

    /// Ends the run if the subject is known to break a clause without which this one says nothing.
    func takeForGranted(_ ids: ClauseID...) throws {
        for id in ids where conditions.broken.contains(id) && id != context.wording.id {
            throw NotJudged(judge: id, violation: nil)
        }
    }

    // MARK: Names and numbers

    /// A token that lives for so many seconds from now; `nil` lives until it is rejected.
    func token(_ name: String, life: Double? = 3600) -> AccessToken {
        let expiration = life.map { fixture.clock.now.addingTimeInterval($0) }
        let token = AccessToken(value: "secret-\(name)", expiration: expiration)
        log.name(token, name)
        return token
    }

    func newCaller(_ name: String?, on lane: Lane? = nil, then react: (@Sendable (Caller) -> Void)? = nil) -> Caller {
        let number = state.withLock { state in
            state.callers += 1
            return state.callers
        }
        return Caller(name: name ?? "caller \(number)", lane: lane, log: log, react: react)
    }

    /// How many loads the scenario has in hand already.
    var takenLoads: Int {
        get { state.withLock { $0.takenLoads } }
        set { state.withLock { $0.takenLoads = newValue } }
    }

    /// How many loads the service had begun by itself when a sign-in had come to rest: the first ones.
    var unaskedLoads: Int {
        get { state.withLock { $0.unaskedLoads } }
        set { state.withLock { $0.unaskedLoads = newValue } }
    }

    /// What the subject owes was waited for in vain: who asks for a part of it need not wait again.
    var wasSilent: Bool {
        get { state.withLock { $0.wasSilent } }
        set { state.withLock { $0.wasSilent = newValue } }
    }

    var openLoads: [ControlledLoad] { fixture.loader.loads.filter(\.isOpen) }
}
