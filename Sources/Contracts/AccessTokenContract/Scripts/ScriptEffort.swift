import ContractHarness
import Foundation

/// How long a script waits for what a subject owes.
struct ScriptEffort: Sendable {
    /// In seconds, for one step.
    let timeLimit: TimeInterval
    /// How long it waits for what must not come.
    let patience: Settling.Patience
    /// Whether what comes within four time limits makes the subject slow, and not wrong.
    let waitsForSlowOnes: Bool
    /// Told when the subject probably never does what it owes.
    var onSilence: (@Sendable (ClauseID?) -> Void)?

    /// For scripts in which nothing may be wrong, and for shrinking: what is found in haste is tried again.
    static let hasty = ScriptEffort(timeLimit: 0.12, patience: .short, waitsForSlowOnes: false)

    /// For an accusation.
    static func patient(_ timeLimit: TimeInterval) -> ScriptEffort {
        ScriptEffort(timeLimit: timeLimit, patience: .usual, waitsForSlowOnes: true)
    }

    /// For an accusation that was confirmed before: the subject has been waited for.
    static func again(_ timeLimit: TimeInterval) -> ScriptEffort {
        ScriptEffort(timeLimit: min(timeLimit, 0.5), patience: .long, waitsForSlowOnes: false)
    }

    /// The plays that a fault has to show in, one after the other.
    static func accusation(
        _ timeLimit: TimeInterval,
        onSilence: (@Sendable (ClauseID?) -> Void)? = nil
    ) -> [ScriptEffort] {
        var first = ScriptEffort.patient(timeLimit)
        first.onSilence = onSilence
        return [first, .again(timeLimit), .again(timeLimit)]
    }
}
