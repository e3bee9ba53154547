/// One mistake that breaks several clauses: mended first, it may mend all of them.
public struct CommonCause: Sendable, CustomStringConvertible {
    /// What the service does wrong.
    public let mistake: String

    /// The ids of the broken clauses that the mistake explains, in the contract's order.
    public let brokenIDs: [String]

    /// The ids of the clauses that could not be judged, perhaps for the same mistake.
    public let notJudgedIDs: [String]

    /// The mistake and the clauses, in one line.
    public var description: String {
        let hidden = notJudgedIDs.isEmpty ? "" : "; not judged: \(notJudgedIDs.joined(separator: ", "))"
        return "\(mistake): \(brokenIDs.joined(separator: ", "))\(hidden)"
    }
}

/// A mistake, the clauses one of which it always breaks, and those that it may break with them.
private let mistakes: [(mistake: String, always: Set<String>, often: Set<String>)] = [
    (
        "a load is not shared by all who wait", ["S1", "S2"],
        ["S3", "S4", "S5", "S6", "C5", "D2", "F5", "I3", "I5", "I7", "I8", "X2", "X4"]
    ),
    (
        "those who wait for a load are not told that it failed", ["F1"],
        ["F2", "F3", "F4", "F5", "C8", "D1", "D4", "D7", "D10", "S3", "T1", "T2", "T3"]
    ),
    ("a load that has ended is not forgotten", ["F2"], ["D10", "F4", "F6", "I1", "I6", "S3", "T3"]),
    (
        "a token that was brought is not cached", ["C1"],
        ["C3", "C4", "C5", "C7", "C8", "C9", "C11", "D7", "F6", "I2", "I8", "O2", "O6", "T2", "X2"]
    ),
    ("the cached token's expiration is not looked at", ["C6"], ["C2", "C5", "C7", "C10", "C11"]),
    ("a rejection is not taken in", ["I1"], ["I2", "I3", "I4", "I5", "I8", "I9", "S4"]),
    ("a load outlives its session", ["O1", "O2"], ["O4", "O6", "O8", "O9", "S5", "T2"]),
    ("a sign-out does not end the session", ["O3"], ["O1", "O5", "O6", "O7"]),
    ("handlers are called while a lock is held", ["D5", "D10"], ["D4", "D8", "D9"]),
    ("a caller cannot leave the load that it waits for", ["X1", "O4"], ["O5", "X5"]),
    ("a load that is silent past its deadline is not given up", ["T1", "T3"], ["S6", "T2", "T4"]),
]

extension ContractReport {
    /// The mistakes that explain several broken clauses each, the most general one first; no clause stands behind two.
    public var commonCauses: [CommonCause] {
        var (broken, notJudged) = (brokenIDs, notJudgedIDs)
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
