import Foundation

/// How often all verdicts are looked at that must be the same every time, set by `.ci/deep verdicts`; `nil` for `swift test`,
/// which looks at some of the subjects only.
let verdictRuns = ProcessInfo.processInfo.environment["CONTRACT_RUNS"].flatMap { Int($0) }
let runs = verdictRuns ?? 1
