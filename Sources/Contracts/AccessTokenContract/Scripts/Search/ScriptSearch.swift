import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness
import Dispatch
import Foundation

/// Plays random scripts on new services of a subject, and looks for the shortest ones that break clauses.
///
/// Scripts are played in haste, several at once. One that breaks a clause is played again with patience, shortened, and
/// played twice more: a clause counts as broken if all three show it. The subject is known to break the clause from
/// then on, and what a script shows behind it is left out.
///
/// Batches make the verdict depend little on the clock: which clauses are known depends on the batch. Only a subject
/// that broke something and is slow or silent is looked at for a limited time.
struct ScriptSearch: Sendable {
    /// What a search found.
    struct Result: Sendable {
        var findings: [ContractViolation] = []
        var count = ScriptCount()
    }

    private static let batch = 48
    private static let workers = 6
    /// A subject that breaks so much, or blocks so many threads, has enough to read.
    private static let mostFindings = 12
    private static let mostBlockedScripts = 24
    /// A busy machine holds up as many scripts of a right subject, and one more of every fifty, up to forty.
    private static let fewBlockedScripts = 6
    /// Seconds after which no batch is begun once something was found: a subject that is silent takes long for each
    /// script.
    private var longestSearch: TimeInterval { max(15, Double(scripts) * 0.04) }
    private static let mostTries = 3
    private static let mostShorterScripts = 100

    let subject: ContractSubject
    let scripts: Int
    let seed: UInt64
    let timeLimit: TimeInterval
    /// The clauses that are asked about.
    let clauses: Set<String>
    let notes: ScriptNotes

    /// - Parameter broken: clauses that the subject is known to break.
    func run(broken: Set<String>) async -> Result {
        let start = DispatchTime.now()
        var result = Result()
        result.count.seed = seed
        var tolerated = broken.union(ServiceContract.clauses.map(\.id).filter { !clauses.contains($0) })
        var unconfirmed: [String: Int] = [:]
        var blocked = 0
        var next = 0
        while next < scripts, result.findings.count < Self.mostFindings,
            blocked < Self.mostBlockedScripts + min(40, next / 50),
            hasFoundNothing(result, blocked - min(40, next / 50)) || Self.seconds(since: start) < longestSearch
        {
            let outcomes = await play(next..<min(scripts, next + Self.batch), tolerated)
            next += Self.batch
            for outcome in outcomes { result.count.add(outcome) }
            blocked += outcomes.count(where: \.isBlocked)
            for looked in await look(at: outcomes, tolerated) {
                switch looked.verdict {
                case .confirmed(let violation):
                    let isNew = !result.findings.contains { $0.clause.id == violation.clause.id }
                    if isNew { result.findings.append(violation) }
                    tolerated.insert(violation.clause.id)
                case .slow:
                    result.count.tooSlowFor.insert(looked.clause)
                    tolerated.insert(looked.clause)
                case .unconfirmed:
                    result.count.unconfirmed += 1
                    unconfirmed[looked.clause, default: 0] += 1
                    if unconfirmed[looked.clause, default: 0] > Self.mostTries { tolerated.insert(looked.clause) }
                }
            }
        }
        return result
    }

    private static func seconds(since start: DispatchTime) -> TimeInterval {
        Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
    }

    /// A right subject on a busy machine is looked at as long as one on an idle machine.
    private func hasFoundNothing(_ result: Result, _ blocked: Int) -> Bool {
        result.findings.isEmpty && blocked <= Self.fewBlockedScripts
    }

    // MARK: In haste

    private func play(_ indices: Range<Int>, _ tolerated: Set<String>) async -> [ScriptOutcome] {
        let outcomes = Locked([ScriptOutcome?](repeating: nil, count: indices.count))
        let next = Locked(indices.lowerBound)
        let workers = (0..<Self.workers).map { number in
            Lane("script worker \(number)").start {
                while true {
                    let index = next.withLock { next in
                        defer { next += 1 }
                        return next
                    }
                    guard index < indices.upperBound else { return }
                    let outcome = await play(seed &+ UInt64(index) * 1_000_003, tolerated)
                    outcomes.withLock { $0[index - indices.lowerBound] = outcome }
                }
            }
        }
        for worker in workers { await worker.value }
        return outcomes.withLock { $0 }.compactMap(\.self)
    }

    private func play(_ seed: UInt64, _ tolerated: Set<String>) async -> ScriptOutcome {
        let draw = Locked(ScriptDraw(seed: seed, for: subject.features))
        let start = draw.withLock { $0.start }
        return await start.played(on: subject, .hasty, tolerating: tolerated, notes: notes) { run, index in
            draw.withLock { $0.step(index, in: run) }
        }
    }

    // MARK: With patience

    private enum Verdict {
        case confirmed(ContractViolation)
        case unconfirmed
        case slow
    }

    /// Looks at one script for each clause, at all of them at once: most of the time is spent on waiting.
    private func look(at outcomes: [ScriptOutcome], _ tolerated: Set<String>) async -> [(
        clause: String, verdict: Verdict
    )] {
        var first: [(clause: String, script: Script)] = []
        for outcome in outcomes {
            guard let clause = outcome.clause, !first.contains(where: { $0.clause == clause }) else { continue }
            first.append((clause, outcome.script))
        }
        let tasks = first.prefix(Self.workers).map { clause, script in
            Lane("look at \(clause)").start { (clause, await look(at: script, tolerated)) }
        }
        var verdicts: [(clause: String, verdict: Verdict)] = []
        for task in tasks { verdicts.append(await task.value) }
        return verdicts
    }

    private func look(at script: Script, _ tolerated: Set<String>) async -> Verdict {
        let first = await script.played(on: subject, .patient(timeLimit), tolerating: tolerated, notes: notes)
        if first.isSlow { return .slow }
        guard let clause = first.clause else { return .unconfirmed }
        let tried = Locked(0)
        let blocked = Locked(0)
        let shortest = await first.script.shortened { shorter in
            let count = tried.withLock { tried in
                tried += 1
                return tried
            }
            // A silent script takes a time limit for each try, and threads that are blocked stay so.
            guard count <= Self.mostShorterScripts, blocked.withLock({ $0 }) < 8 else { return false }
            let outcome = await shorter.played(on: subject, .hasty, tolerating: tolerated, notes: notes)
            if outcome.isBlocked { blocked.withLock { $0 += 1 } }
            return outcome.clause == clause
        }
        for candidate in [shortest, first.script] {
            var shown: ContractViolation?
            for _ in 0..<2 {
                let outcome = await candidate.played(
                    on: subject,
                    .again(timeLimit),
                    tolerating: tolerated,
                    notes: notes
                )
                shown = outcome.clause == clause ? outcome.violation : nil
                if shown == nil { break }
            }
            if let shown { return .confirmed(shown) }
        }
        return .unconfirmed
    }
}
