import AccessTokenAdapters
import AccessTokenCore
import Foundation

/// One script on one stack, held against the specification after each input.
///
/// Callers with odd numbers call with a handler, callers with even numbers in a task. The next input comes when
/// everything that the specification expects of the last one has been seen; what comes beside it is found at the latest
/// then.
final class ScriptRun {
    enum Stage: CaseIterable {
        /// Tasks run on the pool, and events tell when they have.
        case pool
        /// The service's tasks run at once, on the thread that starts or resumes them.
        case inline
        /// The same without events: then callers that find a token pass the state machine by.
        case silent
    }

    let stack: Stack
    private let stage: Stage
    private let patience: TimeInterval

    private let log = ScriptLog()
    private let clock: ScriptClock
    private let loader: ScriptedLoader
    private let doors: Stack.Doors

    private(set) var specification: Specification
    private var expected = ScriptLog.Entries()
    /// What cancels each caller.
    private var cancellations: [() -> Void] = []
    /// The loads that have not answered, and the last one that has.
    private(set) var silentLoads: [Int] = []
    private(set) var lastAnswered: Int?
    /// The loads that have not answered and are not past their deadlines.
    private var runningLoads: Set<Int> = []
    /// The loads that each sign-out found running, until it is done.
    private var signOuts: [Int: Set<Int>] = [:]
    private var signOutCount = 0
    /// The callers that called in a task.
    private var inTasks: Set<Int> = []

    /// - Parameter patience: how long something expected may take, in seconds.
    init(_ stack: Stack, _ stage: Stage, patience: TimeInterval) {
        self.stack = stack
        self.stage = stage
        self.patience = patience
        loader = ScriptedLoader(log)
        clock = ScriptClock()
        specification = Specification(reportsEvents: stage != .silent)
        let onEvent: @Sendable (AccessTokenEvent) -> Void = { [log] event in log.add { $0.events.append(event) } }
        doors = stack.make(
            loader,
            clock,
            stage == .silent ? nil : onEvent,
            executor: stage == .pool ? nil : InlineExecutor(),
            policy: Times.policy
        )
    }

    /// Whether the input makes sense now; a script that was shortened has some that do not.
    func accepts(_ input: Input) -> Bool {
        makesSense(input) && canBeSeen(input)
    }

    /// A load's answer travels in a task; where only an event tells that it has arrived, there has to be one.
    private func canBeSeen(_ input: Input) -> Bool {
        guard stage == .pool || !stack.canBeInline, case .finish = input else { return true }
        var specification = specification
        return !specification.expect(input).events.isEmpty
    }

    private func makesSense(_ input: Input) -> Bool {
        switch input {
        case .retrieve, .signIn, .signInExpired, .signInWithoutToken, .signOut, .invalidate, .clock: true
        case .retrieveCancelled: stack.isReachedWhenCancelled
        case .askByLoader(let load), .finish(let load, .token), .finish(let load, .expiredToken),
            .finish(let load, .failure):
            silentLoads.contains(load)
        case .finish(let load, .sameToken): silentLoads.contains(load) && !specification.facts.held.isEmpty
        case .answerAgain(let load): stack.answersTwice && load == lastAnswered
        case .cancel(let caller): caller <= specification.callers
        case .deadline(let load): load <= specification.facts.loads.count
        }
    }

    /// Performs an input, and throws where the stack does not do what the specification says.
    func perform(_ input: Input) throws {
        let held = specification.facts.held.last?.value
        let observation = specification.expect(input)
        clock.set(specification.facts.now)
        call(input, held: held)
        doors.settle()
        expect(observation)
        noteEnds(input)
        let seen = log.wait(for: expected.counts, atMost: patience)
        clock.settle()
        try compare(seen, after: input)
        let token = doors.currentToken()?.value
        let usable = specification.usable?.value
        guard token == usable else { throw Violation("currentToken is \(token ?? "nil"), not \(usable ?? "nil")") }
    }

    // MARK: Calls

    private func call(_ input: Input, held: String?) {
        let facts = specification.facts
        switch input {
        case .retrieve: retrieve()
        case .retrieveCancelled: retrieveInTask(isCancelled: true)
        case .askByLoader(let load): retrieve(inside: loader.enclosing(load))
        case .cancel(let caller): cancellations[caller - 1]()
        case .finish(let load, let answer): loader.answer(load, answer.result(of: load, held: held, at: clock.now))
        case .answerAgain(let load): loader.answer(load, .failure(LoadFailure(load: load)))
        case .deadline(let load): clock.fire(load)
        case .invalidate(let value):
            if facts.loads.count.isMultiple(of: 2) {
                doors.callback.invalidate(AccessToken(value: value))
            } else {
                let async = doors.async
                Task.immediate { await async.invalidate(AccessToken(value: value)) }
            }
        case .signIn: doors.signIn(AccessToken(value: "S\(facts.session)", expiration: clock.now + Times.life))
        case .signInExpired: doors.signIn(AccessToken(value: "X\(facts.session)", expiration: clock.now - 1))
        case .signInWithoutToken: doors.signIn(nil)
        case .signOut: signOut()
        case .clock: break
        }
    }

    private func retrieve(inside loads: [Load.ID] = []) {
        let caller = specification.callers
        guard !caller.isMultiple(of: 2) else { return retrieveInTask(inside: loads) }
        let retrieval = LoadContext.$current.withValue(context(loads)) {
            doors.callback.retrieveToken { [log] in log.answered(caller, $0) }
        }
        cancellations.append { retrieval.cancel() }
    }

    private func retrieveInTask(inside loads: [Load.ID] = [], isCancelled: Bool = false) {
        let caller = specification.callers
        inTasks.insert(caller)
        let (async, log, context) = (doors.async, log, context(loads))
        let task = Task.immediate {
            if isCancelled { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            log.answered(caller, await LoadContext.$current.withValue(context) { await async.answer() })
        }
        cancellations.append { task.cancel() }
    }

    private func context(_ loads: [Load.ID]) -> LoadContext {
        LoadContext(loads: loads) { true }
    }

    private func signOut() {
        signOutCount += 1
        let number = signOutCount
        let log = log
        if number.isMultiple(of: 2) {
            let async = doors.async
            Task.immediate {
                await async.signOut()
                log.add { $0.signOuts.append(number) }
            }
        } else {
            doors.callback.signOut { log.add { $0.signOuts.append(number) } }
        }
    }

    // MARK: Expectations

    private func expect(_ observation: Observation) {
        expected.answers += observation.answers
        expected.events += observation.events
        guard let start = observation.start else { return }
        expected.starts.append(start.replacing)
        silentLoads.append(start.load)
        runningLoads.insert(start.load)
    }

    /// A sign-out is done when each load that it found running has answered, or is past its deadline.
    private func noteEnds(_ input: Input) {
        switch input {
        case .finish(let load, _):
            silentLoads.removeAll { $0 == load }
            lastAnswered = load
            runningLoads.remove(load)
        case .deadline(let load): runningLoads.remove(load)
        case .signOut: signOuts[signOutCount] = runningLoads
        default: break
        }
        for (number, loads) in signOuts where loads.isDisjoint(with: runningLoads) {
            signOuts[number] = nil
            expected.signOuts.append(number)
        }
    }

    private func compare(_ seen: ScriptLog.Entries, after input: Input) throws {
        guard Set(seen.answers) == Set(expected.answers), seen.answers.count == expected.answers.count else {
            throw Violation("answers: \(seen.answers), expected \(expected.answers)")
        }
        // Tasks go on in any order; handlers are called in the order of the calls (D2), if no task comes between.
        if !stack.isForeign {
            try compare("handlers", seen.answers.filter(isHandlers), expected.answers.filter(isHandlers))
        }
        try compare("loads", seen.starts, expected.starts)
        try compare("events", seen.events, expected.events)
        try compare("sign-outs done", seen.signOuts.sorted(), expected.signOuts.sorted())
    }

    private func compare<Value: Equatable>(_ what: String, _ seen: [Value], _ expected: [Value]) throws {
        guard seen != expected else { return }
        let same = zip(seen, expected).prefix { $0 == $1 }.count
        throw Violation(
            "\(what): after \(same) as expected \(seen.dropFirst(same)), expected \(expected.dropFirst(same))"
        )
    }

    private func isHandlers(_ answer: Observation.Answer) -> Bool {
        !inTasks.contains(answer.caller)
    }
}
