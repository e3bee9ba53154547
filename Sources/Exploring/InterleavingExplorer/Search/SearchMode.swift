/// In which order, and how far, schedules are tried.
///
/// A **delay** is a choice at which a step other than the one that had waited longest was taken.
@available(Executors, *)
public struct SearchMode: Sendable, Hashable, CustomStringConvertible {
    enum Order: Sendable, Hashable {
        case automatic, exhaustive
        case random(seed: UInt64, schedules: Int)
    }

    let order: Order

    /// Every schedule; if there are many, some at random and those without interruptions first.
    ///
    /// What is not exhausted after 1,000 runs is tried under 2,000 random schedules, which are the same each time. Next
    /// come the schedules in which no step is held in its middle, as if ``Explorer/preempts`` were off, for up to half
    /// of the runs that are left. Both find most bugs of a big scenario sooner. Then the search goes on.
    public static let automatic = SearchMode(order: .automatic)
    /// Every schedule, from few delays to many, and depth first among those with equally many delays.
    ///
    /// A failure is found with the fewest delays.
    package static let exhaustive = SearchMode(order: .exhaustive)
    /// This many schedules, by task priorities that are drawn from the seed and change now and then.
    ///
    /// The same seed gives the same schedules; delays that a failure does not need are taken back.
    /// Probabilistic concurrency testing: a bug that needs few ordering constraints is found with a
    /// probability that does not fall with the number of schedules.
    public static func random(seed: UInt64, schedules: Int) -> SearchMode {
        SearchMode(order: .random(seed: seed, schedules: schedules))
    }

    /// The mode in words, with the seed if there is one.
    public var description: String {
        switch order {
        case .automatic: "automatic"
        case .exhaustive: "exhaustive"
        case .random(let seed, _): "random, seed \(seed)"
        }
    }
}
