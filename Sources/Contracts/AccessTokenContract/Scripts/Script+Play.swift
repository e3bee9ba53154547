import AccessTokenAdapters
import ContractHarness
public import Foundation

extension Script {
    /// Plays the script on a new service of the subject, and returns the first thing that breaks a clause.
    ///
    /// ```swift
    /// @Test func `a sign-out in a handler ends the session`() async {
    ///     let script: Script = [.call(then: .signOut), .answer(.token), .call]
    ///     #expect(await script.play(on: ourSession) == nil)
    /// }
    /// ```
    ///
    /// A subject may take `timeLimit` seconds for one step. What comes within four time limits breaks nothing, and ends
    /// the script there.
    ///
    /// A script that breaks something is played three times, and has to break something each time: on a busy machine a
    /// timer of the subject may come later than what it should precede.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public func play(
        on subject: ContractSubject,
        timeLimit: TimeInterval = 1
    ) async -> ContractViolation? {
        var violation: ContractViolation?
        for effort in ScriptEffort.accusation(timeLimit) {
            violation = await played(on: subject, effort).violation
            if violation == nil { return nil }
        }
        return violation
    }

    func played(
        on subject: ContractSubject,
        _ effort: ScriptEffort,
        tolerating tolerated: Set<ClauseID> = [],
        notes: ScriptNotes? = nil
    ) async -> ScriptOutcome {
        await played(on: subject, effort, tolerating: tolerated, notes: notes) { _, index in
            index < steps.count ? steps[index] : nil
        }
    }

    /// Plays the steps that `next` returns for their indices, as long as there are some.
    ///
    /// - Parameter notes: where each step is noted before it is performed.
    func played(
        on subject: ContractSubject,
        _ effort: ScriptEffort,
        tolerating tolerated: Set<ClauseID> = [],
        notes: ScriptNotes? = nil,
        next: @escaping @Sendable (ScriptRun, Int) -> Step?
    ) async -> ScriptOutcome {
        await Lane("script").start { () async -> ScriptOutcome in
            let new = Script(setting, initialToken: initialToken, []).adapted(to: subject.features)
            let run = ScriptRun(subject, new, effort, tolerated: tolerated)
            defer { run.end() }
            let page = notes?.newPage()
            defer { page?.close() }
            var outcome = ScriptOutcome(script: new)
            do {
                page?.begin(outcome.script)
                try await run.begin()
                var index = 0
                while !run.isOver, let step = next(run, index) {
                    index += 1
                    guard run.accepts(step) else { continue }
                    outcome.script.steps.append(step)
                    outcome.situations.insert(run.situation(of: step))
                    page?.note(step)
                    try await run.perform(step)
                }
            } catch let blocked as ContractViolation {
                outcome.isBlocked = true
                let clause: ClauseID = outcome.script.steps.isEmpty ? .l1 : run.clauseOfABlockedThread
                run.change { $0.fault(clause, blocked.expected, blocked.observed) }
            } catch {
                // What returned in the end is slow.
                outcome.isSlow = true
            }
            outcome.spoiledBy = run.state.withLock { $0.specification.spoiledBy }
            outcome.wasSilent = run.state.withLock { $0.wasSilent }
            outcome.isSlow = outcome.isSlow || run.state.withLock { $0.isSlow }
            if !outcome.isSlow, let fault = run.state.withLock({ $0.specification.faults.first }) {
                outcome.violation = run.violation(fault, outcome.script)
            }
            return outcome
        }.value
    }
}

/// What came of playing a script.
struct ScriptOutcome: Sendable {
    /// The script, without the steps that made no sense and those after its end.
    var script: Script
    var violation: ContractViolation?
    /// The subject did what it owed after its time limit.
    var isSlow = false
    /// The script ended at this clause, which the subject is known to break.
    var spoiledBy: ClauseID?
    /// A thread of the subject is blocked for good.
    var isBlocked = false
    /// Something that the subject owes was waited for in vain.
    var wasSilent = false
    /// Which steps were taken in which states.
    var situations: Set<Situation> = []

    var clause: ClauseID? { violation?.clause.id }
}

extension ScriptRun {
    fileprivate func violation(_ fault: Specification.Fault, _ script: Script) -> ContractViolation {
        let clause = ServiceContract.clauses.first { $0.id == fault.clause } ?? ServiceContract.clauses[0]
        return ContractViolation(
            clause: clause.wording,
            expected: fault.expected,
            observed: fault.observed,
            replay: script,
            trace: log.trace
        )
    }

    /// The clause that says that the thread which does not return must not be blocked.
    fileprivate var clauseOfABlockedThread: ClauseID {
        let (reaction, habits, step) = state.withLock {
            ($0.openReactions.first?.value, $0.habits, $0.specification.step)
        }
        if let wasGivenAToken = reaction { return wasGivenAToken ? .d5 : .d10 }
        if habits.contains(.asksItsService) { return .r1 }
        guard habits.isDisjoint(with: [.answersAtOnce, .failsAtOnce]) else { return .d8 }
        return switch step {
        case .reject, .callRightAfter(.reject): .i1
        case .signIn, .callRightAfter(.signIn): .o2
        case .signOut, .callRightAfter(.signOut): .o3
        default: .d5
        }
    }
}
