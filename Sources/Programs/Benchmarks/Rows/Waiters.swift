/// A comparison for each number of waiters: flat is linear growth in all.
func waiterComparisons(_ isQuick: Bool, of kind: String, _ contenders: (_ count: Int) -> [Contender]) -> [Comparison] {
    let counts = [100, 1_000, 10_000] + (isQuick ? [] : [100_000, 1_000_000])
    // Few waiters take about as long as many.
    let rounds = isQuick ? [21, 11, 3] : [201, 51, 11, 3, 3]
    return zip(counts, rounds).map { count, rounds in
        Comparison(title: "\(count) \(kind) that wait", rounds: rounds, contenders: contenders(count))
    }
}

/// The time that each waiter takes to wait and to be answered, and the heap while all of them wait.
func waiters(_ count: Int, wait: () -> Void, answer: () -> Void) -> Sample {
    let before = Heap.bytesInUse
    let waiting = Stopwatch()
    wait()
    var nanoseconds = waiting.nanoseconds
    let bytes = Heap.bytesInUse.flatMap { after in before.map { (after - $0) / Double(count) } }
    let answering = Stopwatch()
    answer()
    nanoseconds += answering.nanoseconds
    return Sample(nanoseconds: nanoseconds / Double(count), bytes: bytes)
}
