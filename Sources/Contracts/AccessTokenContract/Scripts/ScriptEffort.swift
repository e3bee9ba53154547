import Foundation

/// How long a script waits for what a subject owes.
struct ScriptEffort: Sendable {
    /// In seconds, for one step.
    let timeLimit: TimeInterval
    /// Whether it waits longer for what must not come.
    let isPatient: Bool
    /// Whether what comes within four time limits makes the subject slow, and not wrong.
    let waitsForSlowOnes: Bool

    /// For scripts in which nothing may be wrong, and for shrinking: what is found in haste is tried again.
    static let hasty = ScriptEffort(timeLimit: 0.12, isPatient: false, waitsForSlowOnes: false)

    /// For an accusation.
    static func patient(_ timeLimit: TimeInterval) -> ScriptEffort {
        ScriptEffort(timeLimit: timeLimit, isPatient: true, waitsForSlowOnes: true)
    }

    /// For an accusation that was confirmed before: the subject has been waited for.
    static func again(_ timeLimit: TimeInterval) -> ScriptEffort {
        ScriptEffort(timeLimit: min(timeLimit, 0.5), isPatient: true, waitsForSlowOnes: false)
    }
}
