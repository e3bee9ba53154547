import AccessTokenSynchronization
import Foundation

/// What a run is about.
package struct RunContext<Subject: VerifiedSubject>: Sendable {
    package let wording: ClauseWording
    package let subject: Subject
    /// What the clause is tried in, if there is more than one such situation.
    package let situation: String?
    package let conditions: RunConditions
    package let log = RunLog()

    package init(
        wording: ClauseWording,
        subject: Subject,
        situation: String? = nil,
        conditions: RunConditions
    ) {
        self.wording = wording
        self.subject = subject
        self.situation = situation
        self.conditions = conditions
    }
}

/// One run of a scenario: what the scenarios of both contracts wait for and expect.
package protocol ScenarioRun: AnyObject, Sendable {
    associatedtype Subject: VerifiedSubject
    associatedtype Setting: Sendable

    /// The setting of most clauses.
    static var usualSetting: Setting { get }
    var context: RunContext<Subject> { get }

    init(_ context: RunContext<Subject>, _ setting: Setting)
    /// Makes what is tried; throws if the subject is put together wrongly.
    func begin() async throws
    /// The clause that judges the present step.
    var judgeID: ClauseID { get }
    /// What a failed step says: the violation, or that another clause has spoiled the run.
    func excuse(_ violation: ContractViolation) -> any Error
    /// Lets go of it.
    func end()
}

extension ScenarioRun {
    package var judgeID: ClauseID { context.wording.id }
    package func excuse(_ violation: ContractViolation) -> any Error { violation }

    package var subject: Subject { context.subject }
    package var log: RunLog { context.log }
    package var conditions: RunConditions { context.conditions }

    /// Waits for what the subject owes, and says whether it came; what comes after the time limit is tried again.
    ///
    /// - Parameter accused: returns the clause that is accused if it does not come, or `nil`; by default the one that
    ///   judges the step.
    package func wait(
        accusing accused: (@Sendable () -> ClauseID?)? = nil,
        until condition: @escaping @Sendable () -> Bool
    ) async throws -> Bool {
        let soon = min(0.25, conditions.timeLimit / 8)
        if await log.wait(soon, until: condition) { return true }
        conditions.onSilence?(accused.map { $0() } ?? judgeID)
        if await log.wait(conditions.timeLimit - soon, until: condition) { return true }
        guard await log.wait(3 * conditions.timeLimit, until: condition) else { return false }
        throw conditions.isPatient ? tooSlow : SlowSubject()
    }

    /// The subject did what it owed, and too late for a patient run.
    package var tooSlow: any Error {
        let slow = "no answer within \(conditions.timeLimit) s, but later"
        return Unjudged(outcome: .notJudged("\(slow); give a longer timeLimit:, or set your retries to 0"))
    }

    /// Waits for what the subject may do, and says whether it came in time.
    @discardableResult
    package func comes(_ condition: @escaping @Sendable () -> Bool) async -> Bool {
        await log.wait(conditions.timeLimit, until: condition)
    }

    /// Runs code of the subject on a lane, and waits for what it returns.
    package func value<Value: Sendable>(
        of what: String,
        on lane: Lane,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let result = Locked<Result<Value, any Error>?>(nil)
        lane.start { [log] in
            let ended: Result<Value, any Error>
            do { ended = .success(try await body()) } catch { ended = .failure(error) }
            result.withLock { $0 = ended }
            log.check()
        }
        guard try await wait(until: { result.withLock { $0 != nil } }), let ended = result.withLock({ $0 }) else {
            throw violation("\(what) to return", "it does not")
        }
        do { return try ended.get() } catch {
            throw violation("\(what) to succeed", "\(type(of: error)): \(error)")
        }
    }

    package func expect(_ holds: Bool, _ expected: String, observed: String) throws {
        if !holds { throw violation(expected, observed) }
    }

    /// A subject that promises what is no convention is put together wrongly.
    package func check(_ promises: Set<ClauseID>, areAmong conventions: Set<ClauseID>) throws {
        let unknown = promises.subtracting(conventions).sorted()
        try expect(
            unknown.isEmpty,
            "the subject to promise conventions, which are \(conventions.sorted().list)",
            observed: "it promises \(unknown.list)"
        )
    }

    package func violation(_ expected: String, _ observed: String) -> ContractViolation {
        ContractViolation(
            clause: context.wording,
            expected: expected,
            observed: observed,
            situation: context.situation,
            trace: log.trace
        )
    }
}
