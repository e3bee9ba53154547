/// In which order, and how far, schedules are tried.
///
/// A **delay** is a choice at which a step other than the one that had waited longest was taken. The first two modes
/// go from few delays to many, so that a failure is found with the fewest of them; among schedules with equally
/// many delays they go depth first.
public enum SearchMode: Sendable, Hashable {
    /// Every schedule.
    case exhaustive
    /// Every schedule with at most so many delays (delay-bounded search).
    ///
    /// For what is too big to exhaust: most bugs need no more than two or three.
    case bounded(delays: Int)
    /// So many schedules by task priorities drawn from the seed, which change now and then.
    ///
    /// The same seed gives the same schedules; delays that a failure does not need are taken back.
    /// Probabilistic concurrency testing: a bug that needs few ordering constraints is found with a
    /// probability that does not fall with the number of schedules.
    case random(seed: UInt64, schedules: Int)

    /// Random with a seed that is drawn now; the report shows it.
    public static func random(schedules: Int) -> SearchMode {
        .random(seed: UInt64.random(in: 0...UInt64(UInt32.max)), schedules: schedules)
    }
}

extension SearchMode: CustomStringConvertible {
    /// The mode in words, with the seed if there is one.
    public var description: String {
        switch self {
        case .exhaustive: "exhaustive"
        case .bounded(let delays): "at most \(delays) delay\(delays == 1 ? "" : "s")"
        case .random(let seed, _): "random, seed \(seed)"
        }
    }
}

/// Ways to leave out schedules that cannot differ from one that is tried.
///
/// They rest on this: code between two suspensions that enters no actor and marks no effect touches nothing
/// that another task can see. Where a subject keeps state behind a lock, an atomic or a queue of its own, or uses
/// an `AsyncStream`, mark that with ``ScenarioRun/effect(_:)``, or turn the reductions off. What goes through the run
/// itself is known: the clock, controlled queues, `step(cancelling:)`.
public struct Reductions: OptionSet, Sendable, Hashable {
    /// One bit for each reduction.
    public let rawValue: Int

    /// The set with these bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// A task enters an actor in the step that asks for it, if that has touched nothing yet.
    public static let entersActorsAtOnce = Reductions(rawValue: 1)
    /// Of orders that differ only in the order of independent steps, one is tried: sleep sets, and persistent sets of one.
    public static let sleepSets = Reductions(rawValue: 2)
    /// Another choice is tried only where a run has shown a race: dynamic partial-order reduction with source sets.
    public static let sourceSets = Reductions(rawValue: 4)

    /// All reductions.
    public static let all: Reductions = [.entersActorsAtOnce, .sleepSets, .sourceSets]
    /// Every hop a choice, every choice tried.
    public static let none: Reductions = []
}
