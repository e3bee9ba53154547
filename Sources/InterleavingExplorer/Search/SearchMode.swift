/// In which order, and how far, schedules are tried.
///
/// The first two go from few departures from first-in-first-out order to many, so that a failure is found
/// with the fewest; among those with equally many they go depth first.
public enum SearchMode: Sendable, Hashable {
    /// Every schedule.
    case exhaustive
    /// Every schedule with at most so many departures from first-in-first-out order.
    ///
    /// For what is too big to exhaust: most bugs need no more than two or three.
    case bounded(departures: Int)
    /// So many schedules by task priorities drawn from the seed, which change now and then.
    ///
    /// The same seed gives the same schedules; departures that a failure does not need are taken back.
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
        case .bounded(let departures): "at most \(departures) departures"
        case .random(let seed, _): "random, seed \(seed)"
        }
    }
}
