import AccessTokenSynchronization
import ContractHarness
public import Foundation

/// What every service of this package does, clause by clause, as something that can be run on any service.
///
/// It imports no test framework; a host of a few lines runs it from XCTest or Swift Testing.
public enum ServiceContract {
    /// All clauses: loading, caching, failure, single flight, invalidation, sessions, cancellation, deadlines,
    /// delivery, reentrance, and loaders that call their own service.
    public static let clauses: [ContractClause] =
        caching + failure + singleFlight + invalidation + sessions + cancellation + deadlines + delivery + reentrance
        + loaderCalls

    /// The ids of the clauses in which good services differ: breaking one is advice, unless the subject promises it.
    public static let conventions: Set<ClauseID> = Set(clauses.filter(\.isConvention).map(\.id))

    /// How many random scripts are played, beside those that are the same for each seed.
    ///
    /// With fewer, as large a share of the others is played.
    public static let defaultScripts = 300

    /// Verifies clauses that the subject's features select, in their order, and then plays scripts.
    ///
    /// It always ends: a subject that blocks a thread or never answers breaks the clause that finds it. If the subject
    /// does not even load (L1), nothing else is run. The article Clauses says how a clause is judged, and the article
    /// Scripts what a script is. `scripts` is the number of random ones, beside those that are the same for each seed.
    /// Another `seed` plays other random scripts, and `scripts: 0` plays none at all. What is played depends on no
    /// clock.
    ///
    /// A subject that takes more than `timeLimit` seconds for one step counts as silent; give it more on a busy
    /// machine. `onProgress` is told before and after each clause; by default that is what is left of a report if the
    /// subject ends the process.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public static func verify(
        _ subject: ContractSubject,
        clauses: [ContractClause] = ServiceContract.clauses,
        scripts: Int = ServiceContract.defaultScripts,
        seed: UInt64 = 44,
        timeLimit: TimeInterval = 1,
        onProgress: (@Sendable (ContractProgress) -> Void)? = ContractProgress.standardError
    ) async -> ContractReport {
        let notes = ScriptNotes()
        defer { notes.remove() }
        if onProgress != nil { notes.areReadOutAfterACrash() }
        let page = notes.newPage()
        // The last one runs; the others wait for what probably never comes.
        let running = Locked<[ContractProgress]>([])
        var report = await ContractClause.verify(
            subject,
            clauses,
            essential: .l1,
            mistakes: mistakes,
            timeLimit: timeLimit
        ) { progress in
            let lines = running.withLock { running in
                running.removeAll { $0.clause?.id == progress.clause?.id }
                if progress.outcome == nil { running.append(progress) }
                let waiting = running.dropLast().compactMap(\.clause?.id)
                return (waiting.isEmpty ? [] : ["\(subject): waited for in \(waiting.list)"])
                    + running.suffix(1).map { "\($0)" }
            }
            page.note(lines.isEmpty ? nil : lines.joined(separator: "\n"))
            onProgress?(progress)
        }
        guard scripts > 0, !report.brokenIDs.contains(.l1) else { return report }
        page.note("\(subject): a script ended the process; these were being played:")
        onProgress?(ContractProgress(subject: subject.name, clause: nil, outcome: nil, scriptsInPlay: notes.path))
        let search = ScriptSearch(
            subject: subject,
            scripts: scripts,
            seed: seed,
            timeLimit: timeLimit,
            clauses: Set(clauses.map(\.id)),
            notes: notes
        )
        let result = await search.run(behind: report.violations)
        report.add(result)
        for violation in result.findings {
            let outcome = ContractOutcome.broken(violation)
            let progress = ContractProgress(
                subject: subject.name,
                clause: violation.clause,
                outcome: outcome
            )
            onProgress?(progress)
        }
        return report
    }
}
