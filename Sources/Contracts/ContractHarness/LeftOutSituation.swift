/// A situation in which a clause says nothing, since the subject breaks another clause that the situation takes for
/// granted.
///
/// Other situations judge the clause: it can be kept, and what this one would find shows when the other clause is
/// mended.
public struct LeftOutSituation: Sendable, CustomStringConvertible {
    /// The clause that the situation belongs to.
    public let clause: ClauseWording

    /// The id of the clause that stands in the way.
    public let brokenID: ClauseID

    /// What the clause was tried in.
    public let situation: String

    /// The last thing that happened there.
    let lastStep: String?

    init<Subject: VerifiedSubject>(_ context: RunContext<Subject>, _ left: NotJudged) {
        clause = context.wording
        brokenID = left.judge
        situation = context.situation ?? ""
        lastStep = context.log.trace.last
    }

    /// The clause, the situation and what to mend, in one line.
    public var description: String {
        let last = lastStep.map { ", after: \($0)" } ?? ""
        return "\(clause.id) where \(situation)\(last): mend \(brokenID) first"
    }
}

extension [LeftOutSituation] {
    /// A line for each clause and each other clause that stands in its way, with the situations that this takes.
    var lines: [String] {
        Dictionary(grouping: self) { "not judged in \($0.clause.id) until \($0.brokenID) is mended: " }
            .sorted { $0.key < $1.key }
            .map { head, all in
                var names: [String] = []
                // What threads do by chance is tried several times.
                for name in all.map(\.situation) where !names.contains(name) { names.append(name) }
                return head + names.joined(separator: "; ")
            }
    }
}
