import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness

/// Plays scripts on new services of a subject, and looks for the shortest ones that break clauses.
///
/// Scripts are played in haste, several at once: first those of ``ScriptGrid``, which are the same for each seed, and
/// then random ones. One that breaks a clause is played again with patience, shortened, and played twice more: a clause
/// counts as broken if all three show it. The subject is known to break the clause from then on, and what a script
/// shows behind it is left out.
///
/// What is played depends on no clock. The search ends early only when so much was found that nobody reads on, or when
/// the subject has blocked so many threads that the process would run out of them; the scripts that were not played are
/// counted then.
struct ScriptSearch: Sendable {
    /// What a search found.
    struct Result: Sendable {
        var findings: [ContractViolation] = []
        /// Findings that probably come from another one, and the clause of that one.
        var aftershocks: [(clause: ClauseID, of: ContractViolation)] = []
        var count = ScriptCount()

        /// Leaves the shortest script of those that need the same uncommon steps: it says most directly what is wrong.
        ///
        /// What concerns another user's token is never left out, and nothing is for a smaller fault.
        ///
        /// - Parameter known: what clauses' own scenarios have shown.
        mutating func group(behind known: [ContractViolation]) {
            func length(_ violation: ContractViolation) -> (Int, Int) {
                (violation.script?.uncommonKinds.count ?? 0, violation.script?.steps.count ?? 0)
            }
            func isBefore(_ one: ContractViolation, _ other: ContractViolation) -> Bool {
                let (short, long) = (length(one), length(other))
                return short == long ? one.clause.severity > other.clause.severity : short < long
            }
            func isCause(_ first: ContractViolation, of finding: ContractViolation) -> Bool {
                let (needed, kinds) = (first.script?.uncommonKinds ?? [], finding.script?.uncommonKinds ?? [])
                guard first.clause.severity >= finding.clause.severity, !needed.isEmpty else { return false }
                // Two steps in common, and one that another one can stand for.
                let isSimilar =
                    needed.intersection(kinds).count > 1 && needed.subtracting(kinds).count == 1
                    && kinds.subtracting(needed).count == 1
                return needed.isSubset(of: kinds) || isSimilar
            }
            var left: [ContractViolation] = []
            for finding in findings.sorted(by: isBefore) {
                if let cause = (known + left).first(where: { isCause($0, of: finding) }),
                    !ScriptLook.neverExplained.contains(finding.clause.id)
                {
                    aftershocks.append((finding.clause.id, cause))
                } else {
                    left.append(finding)
                }
            }
            findings = left
        }
    }

    /// What is known of the subject so far, and what the next batch of scripts is to look for.
    private struct Knowledge: Equatable {
        /// The clauses that the subject breaks, and those that nobody asks about.
        var tolerated: Set<ClauseID>
        /// How often scripts that break the clause were looked at, and nothing new was found.
        var vainLooks: [ClauseID: Int] = [:]
        var blockedScripts = 0
        var blocks = false
        /// A caller was waited for as long as a slow subject may take, and got no answer.
        var isSilent = false
        var seen: [Situation: Int] = [:]
    }

    /// A batch that was played, and whose findings are looked at.
    private struct Batch {
        let end: Int
        let outcomes: [ScriptOutcome]
        /// What is known behind the batch, and what will be if nothing new is found in it.
        let known: Knowledge
        let presumed: Knowledge
        let looks: Begun<[Look]>
    }

    /// - Parameter isBlocked: a thread of the subject was blocked for good.
    private typealias Look = (clause: ClauseID, isBlocked: Bool, verdict: ScriptLook.Verdict)

    private static let batch = 48
    private static let workers = 6
    /// A subject that breaks so much has enough to read.
    private static let mostFindings = 12
    /// Dispatch has some 250 threads, and a thread that is blocked stays so.
    private static let mostBlockedScripts = 24
    /// What is found again and again, and is no new fault, is not looked at any more.
    private static let mostVainLooks = 3

    let subject: ContractSubject
    /// How many random scripts are played.
    let scripts: Int
    let seed: UInt64
    let timeLimit: Double
    /// The clauses that are asked about.
    let clauses: Set<ClauseID>
    let notes: ScriptNotes

    /// The clauses whose faults are all that a shorter script may show instead of a fault that nobody asks about.
    private var unasked: Set<ClauseID> { Set(ServiceContract.clauses.map(\.id)).subtracting(clauses) }

    /// - Parameter violations: what the subject is known to break.
    func run(behind violations: [ContractViolation]) async -> Result {
        var result = Result()
        result.count.seed = seed
        var known = Knowledge(tolerated: unasked.union(violations.map(\.clause.id)))
        let grid = ScriptGrid.entries(for: subject.features, atMost: scripts)
        let plays = grid.map(Play.given) + (0..<scripts).map(Play.drawn)
        var played = 0
        // In their order. What is found in them has come to a silence, and probably is nothing new.
        var begun: [Batch] = []
        var abandoned: [Batch] = []
        while played < plays.count {
            let next = begun.last?.end ?? played
            let presumed = begun.last?.presumed ?? known
            if next < plays.count, begun.first?.looks.outcome == nil, result.findings.count < Self.mostFindings,
                !presumed.blocks || presumed.blockedScripts < Self.mostBlockedScripts
            {
                begun.append(await begin(plays[next..<min(plays.count, next + Self.batch)], presumed))
                continue
            }
            guard !begun.isEmpty else { break }
            let batch = begun.removeFirst()
            (played, known) = (batch.end, batch.known)
            for outcome in batch.outcomes { result.count.add(outcome) }
            for look in await batch.looks.end { take(look, &known, &result) }
            if known != batch.presumed {
                abandoned += begun
                begun = []
            }
        }
        // No code of the subject runs when the verification has ended.
        for batch in abandoned + begun { _ = await batch.looks.end }
        result.count.notPlayed = plays.count - played
        result.group(behind: violations)
        return result
    }

    /// Plays a batch, and begins to look at the shortest script of each clause, at all of them at once.
    ///
    /// Most of the time is spent on waiting for what never comes. So this returns when all else is done.
    private func begin(_ plays: ArraySlice<Play>, _ former: Knowledge) async -> Batch {
        let outcomes = await play(plays, former)
        var known = former
        for outcome in outcomes {
            for situation in outcome.situations { known.seen[situation, default: 0] += 1 }
        }
        known.blockedScripts += outcomes.count(where: \.isBlocked)
        var shortest: [(clause: ClauseID, outcome: ScriptOutcome)] = []
        for outcome in outcomes {
            guard let clause = outcome.clause, known.vainLooks[clause, default: 0] < Self.mostVainLooks else {
                continue
            }
            if let index = shortest.firstIndex(where: { $0.clause == clause }) {
                let isShorter = outcome.script.steps.count < shortest[index].outcome.script.steps.count
                if isShorter { shortest[index].outcome = outcome }
            } else {
                shortest.append((clause, outcome))
            }
        }
        let look = ScriptLook(
            subject: subject,
            timeLimit: timeLimit,
            tolerated: known.tolerated,
            unasked: unasked,
            isKnownToBeSilent: known.isSilent,
            notes: notes
        )
        let looks = await Begun("looks") { [shortest] isSilent in
            let tasks = shortest.map { clause, outcome in
                (clause, outcome, Lane("look at \(clause)").start { await look.verdict(on: outcome.script) })
            }
            var isNew = false
            // What blocks threads for good is waited for: more scripts would block more of them.
            for (_, outcome, task) in tasks where !outcome.wasSilent || outcome.isBlocked {
                isNew = await task.value.isNew || isNew
            }
            if !isNew { isSilent(nil) }
            var looks: [Look] = []
            for (clause, outcome, task) in tasks { looks.append((clause, outcome.isBlocked, await task.value)) }
            return looks
        }
        var presumed = known
        for (clause, _) in shortest { presumed.vainLooks[clause, default: 0] += 1 }
        return Batch(end: plays.endIndex, outcomes: outcomes, known: known, presumed: presumed, looks: looks)
    }

    private func take(_ look: Look, _ known: inout Knowledge, _ result: inout Result) {
        switch look.verdict {
        case .confirmed(let violation, let isSilent):
            known.isSilent = known.isSilent || isSilent
            known.blocks = known.blocks || look.isBlocked
            if known.tolerated.insert(violation.clause.id).inserted { result.findings.append(violation) }
            if violation.clause.id != look.clause { known.vainLooks[look.clause, default: 0] += 1 }
        case .explained: known.vainLooks[look.clause, default: 0] += 1
        case .slow:
            result.count.tooSlowFor.insert(look.clause)
            known.tolerated.insert(look.clause)
        case .unconfirmed:
            result.count.unconfirmed += 1
            known.vainLooks[look.clause, default: 0] += 1
        }
    }

    // MARK: In haste

    private enum Play: Sendable {
        case given(ScriptGrid.Entry)
        /// The random script of this number.
        case drawn(Int)
    }

    private func play(_ plays: ArraySlice<Play>, _ known: Knowledge) async -> [ScriptOutcome] {
        let outcomes = Locked([ScriptOutcome?](repeating: nil, count: plays.count))
        let next = Locked(plays.startIndex)
        let (tolerated, seen) = (known.tolerated, known.seen)
        let workers = (0..<Self.workers).map { number in
            Lane("script worker \(number)").start {
                while true {
                    let index = next.withLock { next in
                        defer { next += 1 }
                        return next
                    }
                    guard index < plays.endIndex else { return }
                    let outcome = await play(plays[index], tolerated, seen)
                    outcomes.withLock { $0[index - plays.startIndex] = outcome }
                }
            }
        }
        for worker in workers { await worker.value }
        return outcomes.withLock { $0 }.compactMap(\.self)
    }

    private func play(
        _ play: Play,
        _ tolerated: Set<ClauseID>,
        _ seen: [Situation: Int]
    ) async -> ScriptOutcome {
        switch play {
        case .given(let entry):
            let (script, steps) = (entry.script, entry.script.steps)
            return await script.played(on: subject, .hasty, tolerating: tolerated, notes: notes) { run, index in
                index < steps.count && (index != entry.event || run.accepts(steps[index])) ? steps[index] : nil
            }
        case .drawn(let index):
            let seed = seed &+ UInt64(index) * 1_000_003
            let draw = Locked(ScriptDraw(seed: seed, for: subject.features, seen: seen))
            let start = draw.withLock { $0.start }
            return await start.played(on: subject, .hasty, tolerating: tolerated, notes: notes) { run, index in
                draw.withLock { $0.step(index, in: run) }
            }
        }
    }
}
