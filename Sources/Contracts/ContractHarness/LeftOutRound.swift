/// A round of a clause that says nothing, since the subject breaks another clause that the round takes for granted.
///
/// The other rounds judge the clause: it can be kept, and what the round would find shows when the other clause is
/// mended.
public struct LeftOutRound: Sendable, CustomStringConvertible {
    /// The clause that the round belongs to.
    public let clause: ClauseWording

    /// The id of the clause that stands in the way.
    public let brokenID: String

    /// Which of the clause's rounds it is, and the last thing that happened there.
    public let situation: String

    /// How many rounds the clause has.
    let rounds: Int

    init<Subject: VerifiedSubject>(_ context: RunContext<Subject>, _ left: NotJudged) {
        clause = context.wording
        brokenID = left.judge
        rounds = context.rounds
        let last = context.log.trace.last.map { ", after: \($0)" } ?? ""
        situation = "round \(context.round + 1) of \(rounds)\(last)"
    }

    /// The clause, the situation and what to mend, in one line.
    public var description: String { "\(clause.id), \(situation): mend \(brokenID) first" }
}

extension [LeftOutRound] {
    /// A line for each clause that stands in the way of others, with how many of their rounds it takes.
    var lines: [String] {
        Dictionary(grouping: self, by: \.brokenID).sorted { $0.key < $1.key }.map { brokenID, rounds in
            var counts: [(id: String, text: String)] = []
            for round in rounds where !counts.contains(where: { $0.id == round.clause.id }) {
                let count = rounds.count { $0.clause.id == round.clause.id }
                counts.append((round.clause.id, "\(round.clause.id) (\(count) of \(round.rounds))"))
            }
            return "rounds left out, mend \(brokenID) first: \(counts.map(\.text).joined(separator: ", "))"
        }
    }
}
