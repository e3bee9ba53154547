import AccessTokenAdapters
import Dispatch
import Foundation

/// One run of one clause: a new service, what surrounds it, and the words in which scenarios are written.
final class Trial: Sendable {
    let clause: ContractClause
    let features: ContractFeatures
    let fixture: ContractFixture
    let changes = Changes()

    private let patience: Duration
    private let start = ContinuousClock.now
    private let callerExecutor: DispatchQueueExecutor
    private let service: Locked<ContractService?>
    private let callers = Locked(0)

    init(clause: ContractClause, subject: ContractSubject, patience: Duration) {
        self.clause = clause
        self.features = subject.features
        self.patience = patience
        callerExecutor = DispatchQueueExecutor(queue: DispatchQueue(label: "AccessTokenContract.callers"))
        fixture = ContractFixture(
            loader: ControlledLoader(changes: changes),
            // Of today, for subjects with a clock of their own; of whole seconds, so that sums of times are exact.
            clock: ManualClock(now: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded())),
            policy: clause.policy,
            queue: DispatchQueue(label: "AccessTokenContract.handlers"),
            onEvent: { [changes] event in changes.happened(event) }
        )
        DeliveryMark.set(on: fixture.queue)
        service = Locked(subject.make(fixture))
    }

    // MARK: What scenarios do

    /// Starts a caller.
    func call(
        _ name: String? = nil,
        cancelledAlready: Bool = false,
        inPresentTask: Bool = false,
        then react: (@Sendable (Result<AccessToken, any Error>) -> Void)? = nil
    ) -> Caller {
        let number = callers.withLock { callers in
            callers += 1
            return callers
        }
        let caller = Caller(name: name ?? "caller \(number)", changes: changes, react: react)
        let start = CallerStart(
            executor: callerExecutor,
            cancelledAlready: cancelledAlready,
            inPresentTask: inPresentTask
        )
        changes.happened("\(caller.name) calls")
        caller.start { service.withLock { $0 }?.retrieve(start, $0) }
        return caller
    }

    func calls(_ count: Int) -> [Caller] {
        (0..<count).map { _ in call() }
    }

    func invalidate(_ token: AccessToken) async {
        changes.happened("\(changes.name(token)) is rejected")
        await service.withLock { $0 }?.invalidate?(token)
    }

    func signOut() async {
        changes.happened("sign-out")
        await service.withLock { $0 }?.signOut?()
    }

    func signIn(_ token: AccessToken) async {
        changes.happened("sign-in with \(changes.name(token))")
        await service.withLock { $0 }?.signIn?(token)
    }

    func advance(by seconds: Double) {
        changes.happened("\(seconds) s pass")
        fixture.clock.advance(by: seconds)
    }

    /// Lets go of the last reference to the service that the suite holds.
    func dropService() {
        changes.happened("the last reference to the service is dropped")
        _ = service.withLock { $0.take() }
    }

    var currentToken: AccessToken? {
        service.withLock { $0?.currentToken }?()
    }

    /// A token that lives for so many seconds from now; `nil` lives until it is rejected.
    func token(_ name: String, life: Double? = 3600) -> AccessToken {
        let expiration = life.map { fixture.clock.now.addingTimeInterval($0) }
        let token = AccessToken(value: "secret-\(name)", expiration: expiration)
        changes.name(token, name)
        return token
    }

    // MARK: What scenarios wait for and expect

    /// Without this, a service that was not given its `signIn:` would be blamed for what it does not do then.
    func expectAllThatIsDeclared() throws {
        let missing = service.withLock { $0 }?.missing(for: features) ?? []
        let labels = missing.joined(separator: ", ")
        try expect(
            missing.isEmpty,
            "the ContractService of the subject to be made with \(labels) as its features declare",
            observed: "it was made without",
            line: clause.line
        )
    }

    /// The load with this number, once it was started.
    func load(_ number: Int, line: Int = #line) async throws -> ControlledLoad {
        guard let load = await fixture.loader.started(number, patience: patience) else {
            throw violation("load \(number) to be started", "\(count(fixture.loader.loads.count, "load"))", line)
        }
        return load
    }

    /// A new service with this token in its cache, brought by load 1.
    func cache(_ token: AccessToken, line: Int = #line) async throws {
        let caller = call()
        try await load(1, line: line).answer(.success(token))
        try await expect(caller, gets: token, line: line)
    }

    func expect(_ caller: Caller, gets token: AccessToken, line: Int = #line) async throws {
        let result = try await answer(of: caller, expecting: changes.name(token), line: line)
        guard case .success(let given) = result, given.value == token.value else {
            throw violation("\(caller.name) to get \(changes.name(token))", text(result), line)
        }
    }

    func expect<E: Error & Equatable>(_ caller: Caller, fails error: E, line: Int = #line) async throws {
        let result = try await answer(of: caller, expecting: error.inReports, line: line)
        guard case .failure(let given) = result, given as? E == error else {
            throw violation("\(caller.name) to get \(error.inReports)", text(result), line)
        }
    }

    func expectCancelled(_ caller: Caller, line: Int = #line) async throws {
        let result = try await answer(of: caller, expecting: "CancellationError", line: line)
        guard case .failure(let given) = result, given is CancellationError else {
            throw violation("\(caller.name) to get CancellationError", text(result), line)
        }
    }

    func expect(_ load: ControlledLoad, replaces token: AccessToken, line: Int = #line) throws {
        try expect(
            load.replacing == token,
            "load \(load.number) to be told that it replaces \(changes.name(token))",
            observed: load.replacing.map { "it replaces \(changes.name($0))" } ?? "load(replacing: nil)",
            line: line
        )
    }

    func expectWaiting(_ caller: Caller, line: Int = #line) throws {
        guard let result = caller.answers.first else { return }
        throw violation("\(caller.name) to wait on", text(result), line)
    }

    func expectLoads(_ count: Int, line: Int = #line) throws {
        let loads = fixture.loader.loads.count
        if loads != count { throw violation(self.count(count, "load"), self.count(loads, "load"), line) }
    }

    func expect(_ holds: Bool, _ expected: String, observed: String, line: Int = #line) throws {
        if !holds { throw violation(expected, observed, line) }
    }

    func expect(event: AccessTokenEvent, line: Int = #line) async throws {
        guard features.contains(.events) else { return }
        let came = await wait { self.changes.events.contains(event) }
        try expect(came, "an event: \(event)", observed: "no such event", line: line)
    }

    func answer(
        of caller: Caller,
        expecting expected: String,
        line: Int = #line
    ) async throws -> Result<AccessToken, any Error> {
        _ = await wait { !caller.answers.isEmpty }
        guard let answer = caller.answers.first else {
            throw violation("\(caller.name) to get \(expected)", "no answer", line)
        }
        return answer
    }

    /// Waits for what can be seen; says whether it came.
    func wait(until condition: @escaping @Sendable () -> Bool) async -> Bool {
        await changes.wait(patience: patience, until: condition)
    }

    /// Waits until the subject tells that `token` is the present one.
    func waitUntilPresent(_ token: AccessToken) async {
        while currentToken?.value != token.value, await hasTime() {}
    }

    /// Waits until the subject has set the timer of a deadline.
    func waitUntilTimerRuns() async {
        while fixture.clock.pendingTimers == 0, await hasTime() {}
    }

    /// Lets others go on, for a loop that waits for what leaves no trace; says whether there is time to go on with it.
    func hasTime() async -> Bool {
        await hop()
        return start.duration(to: .now) < patience
    }

    /// Lets everything come to rest that is on its way; too short a rest can miss a bug, and never invents one.
    func settle() async {
        for _ in 0..<50 { await hop() }
    }

    private func hop() async {
        await withCheckedContinuation { continuation in
            fixture.queue.async { continuation.resume() }
        }
        await Task(executorPreference: callerExecutor) {}.value
        await Task.detached(priority: .low) {}.value
    }

    private func violation(_ expected: String, _ observed: String, _ line: Int) -> ContractViolation {
        ContractViolation(clause: clause, expected: expected, observed: observed, trace: changes.trace, line: line)
    }

    private func text(_ result: Result<AccessToken, any Error>) -> String {
        switch result {
        case .success(let token): changes.name(token)
        case .failure(let error): error.inReports
        }
    }

    private func count(_ count: Int, _ noun: String) -> String {
        count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }
}

extension Error {
    /// By its name in code if it is one of ours: what it tells an app's developer to do next is not for reports.
    var inReports: String {
        (self as? AccessTokenError).map { "AccessTokenError.\($0.name)" } ?? "the error \(self)"
    }
}
