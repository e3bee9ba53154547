import Foundation

/// One run of a scenario: what the scenarios of both contracts wait for and expect.
package protocol ScenarioRun: AnyObject, Sendable {
    var wording: ClauseWording { get }
    var log: RunLog { get }
    var conditions: RunConditions { get }
    /// Counts from 1; `nil` if the clause is tried in one round.
    var roundInReports: (Int, of: Int)? { get }
}

extension ScenarioRun {
    /// Waits for what the subject owes, and says whether it came; what comes after the time limit is not judged.
    package func wait(until condition: @escaping @Sendable () -> Bool) async throws -> Bool {
        if await comes(condition) { return true }
        if await log.wait(3 * conditions.timeLimit, until: condition) {
            throw SlowSubject(timeLimit: conditions.timeLimit)
        }
        return false
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
        _ line: Int,
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
            throw violation("\(what) to return", "it does not", line)
        }
        do { return try ended.get() } catch {
            throw violation("\(what) to succeed", "\(type(of: error)): \(error)", line)
        }
    }

    package func expect(_ holds: Bool, _ expected: String, observed: String, line: Int = #line) throws {
        if !holds { throw violation(expected, observed, line) }
    }

    /// A subject that promises what is no convention is put together wrongly.
    package func check(_ promises: Set<String>, areAmong conventions: Set<String>) throws {
        let unknown = promises.subtracting(conventions).sorted()
        try expect(
            unknown.isEmpty,
            "the subject to promise conventions, which are \(conventions.sorted())",
            observed: "it promises \(unknown)",
            line: wording.line
        )
    }

    package func violation(_ expected: String, _ observed: String, _ line: Int) -> ContractViolation {
        ContractViolation(
            clause: wording,
            expected: expected,
            observed: observed,
            round: roundInReports,
            trace: log.trace,
            line: line
        )
    }
}
