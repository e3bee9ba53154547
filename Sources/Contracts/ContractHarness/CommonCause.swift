/// One mistake that breaks several clauses: mended first, it may mend all of them.
public struct CommonCause: Sendable, CustomStringConvertible {
    /// What the service does wrong.
    public let mistake: String

    /// The ids of the broken clauses that the mistake explains, in the contract's order.
    public let brokenIDs: [ClauseID]

    /// The ids of the clauses that could not be judged, perhaps for the same mistake.
    public let notJudgedIDs: [ClauseID]

    /// The mistake and the clauses, in one line.
    public var description: String {
        let hidden = notJudgedIDs.isEmpty ? "" : "; not judged: \(notJudgedIDs.list)"
        return "\(mistake): \(brokenIDs.list)\(hidden)"
    }
}

/// A mistake, the clauses one of which it always breaks, and those that it may break with them.
package typealias Mistake = (mistake: String, always: Set<ClauseID>, often: Set<ClauseID>)

extension ContractReport {
    /// The mistakes that explain several broken clauses each, the most general one first; no clause stands behind two.
    public var commonCauses: [CommonCause] {
        var (broken, notJudged) = (brokenIDs, notJudgedIDs.filter { !tooSlowIDs.contains($0) })
        return mistakes.compactMap { mistake, always, often in
            let explained = always.union(often)
            let ids = broken.filter(explained.contains)
            guard ids.count > 1, !always.isDisjoint(with: ids) else { return nil }
            let hidden = notJudged.filter(explained.contains)
            broken.removeAll(where: explained.contains)
            notJudged.removeAll(where: explained.contains)
            return CommonCause(mistake: mistake, brokenIDs: ids, notJudgedIDs: hidden)
        }
    }
}
