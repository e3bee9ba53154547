/// A comparison for each number of waiters: flat is linear growth in all.
func waiterComparisons(_ isQuick: Bool, of kind: String, _ contenders: (_ count: Int) -> [Contender]) -> [Comparison] {
    let counts = [100, 1_000, 10_000] + (isQuick ? [] : [100_000, 1_000_000])
    // Few waiters take about as long as many.
    let rounds = isQuick ? [21, 11, 3] : [201, 51, 11, 3, 3]
    return zip(counts, rounds).map { count, rounds in
        Comparison(title: "\(count) \(kind) that wait", rounds: rounds, contenders: contenders(count))
    }
}

/// The time that each waiter takes to wait and to be answered.
func waiters(_ count: Int, wait: () -> Void, answer: () -> Void) -> Sample {
    let watch = Stopwatch()
    wait()
    answer()
    return watch.sample(per: count)
}
