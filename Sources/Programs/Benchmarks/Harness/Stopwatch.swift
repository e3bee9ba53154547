import AccessTokenAsync

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

/// Uses a token as its receiver would, as far as the optimizer can tell.
@inline(never)
func use(_ token: AccessToken) -> Int {
    token.value.utf8.count
}
