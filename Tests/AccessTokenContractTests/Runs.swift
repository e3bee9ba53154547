import Foundation

/// How often verdicts are looked at that must be the same every time.
///
/// `.ci/run verdicts` makes it five times, or a hundred, in several processes.
let runs = ProcessInfo.processInfo.environment["CONTRACT_RUNS"].flatMap { Int($0) } ?? 2
