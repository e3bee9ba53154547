import Foundation

/// How many times as many schedules are tried, set by `.ci/deep interleavings`; `nil` for `swift test`, which tries few.
///
/// All planted bugs that are a matter of order appear by the 20th schedule of their scenario.
let effort = ProcessInfo.processInfo.environment["EXPLORER_EFFORT"].flatMap { Int($0) }
