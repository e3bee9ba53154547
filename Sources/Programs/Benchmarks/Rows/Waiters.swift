import AccessTokenSynchronization

/// A comparison for each number of waiters: flat is linear growth in all.
func waiterComparisons(_ isQuick: Bool, of kind: String, _ contenders: (_ count: Int) -> [Contender]) -> [Comparison] {
    let counts = [100, 1_000, 10_000] + (isQuick ? [] : [100_000, 1_000_000])
    // Few waiters take about as long as many.
    let rounds = isQuick ? [21, 11, 3] : [201, 51, 11, 3, 3]
    return zip(counts, rounds).map { count, rounds in
        Comparison(title: "\(count) \(kind) that wait", rounds: rounds, contenders: contenders(count))
    }
}

/// Measures many waiters, while `wait` makes them wait, and `answer` answers them all.
typealias WaiterMeasure<Figure> = (_ count: Int, _ wait: () -> Void, _ answer: () -> Void) -> Figure

/// The heap that each waiter takes while all of them wait; `nil` where it is not measured.
func heapOfWaiters(_ count: Int, wait: () -> Void, answer: () -> Void) -> Double? {
    let before = Heap.bytesInUse
    wait()
    let after = Heap.bytesInUse
    answer()
    guard let before, let after else { return nil }
    return (after - before) / Double(count)
}

/// The time that each waiter takes to wait and to be answered.
func timeOfWaiters(_ count: Int, wait: () -> Void, answer: () -> Void) -> Sample {
    let watch = Stopwatch()
    wait()
    answer()
    return watch.sample(per: count)
}
