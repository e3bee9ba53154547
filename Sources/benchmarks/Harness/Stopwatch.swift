/// Time since it was made.
struct Stopwatch: Sendable {
    private let start = ContinuousClock.now

    var nanoseconds: Double {
        let passed = (ContinuousClock.now - start).components
        return Double(passed.seconds) * 1e9 + Double(passed.attoseconds) / 1e9
    }

    func sample(per count: Int) -> Sample {
        Sample(nanoseconds: nanoseconds / Double(count))
    }
}
