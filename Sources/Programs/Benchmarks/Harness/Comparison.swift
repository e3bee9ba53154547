/// Contenders that are sampled alternately (A B C A B C …), so that other work of the machine slows all of them alike.
struct Comparison: Sendable {
    /// The row of the table, by its letter; several comparisons can make up one row.
    let row: String
    let title: String

    /// The number of waiters or accounts, where there are any.
    var count: Int?

    /// Rounds that count.
    ///
    /// One round to warm up comes before them.
    var rounds: Int

    /// The first is the base of the ratios in the table.
    let contenders: [Contender]
    var goals: [Goal] = []

    var name: String {
        count.map { "\(row) \(title), N = \($0)" } ?? "\(row) \(title)"
    }

    func run(onRound: (Int) -> Void) async throws -> Outcome {
        var samples = contenders.map { _ in [Sample]() }
        let warmUps = (count ?? 0) > 100_000 ? 0 : 1
        for round in 0..<(rounds + warmUps) {
            onRound(round)
            for (index, contender) in contenders.enumerated() {
                let sample = try await contender.sample()
                if round >= warmUps { samples[index].append(sample) }
            }
        }
        return Outcome(of: self, samples: samples)
    }
}

/// One way to do what a comparison compares.
struct Contender: Sendable {
    let name: String

    /// Measures many repetitions, and returns the cost of one.
    let sample: @Sendable () async throws -> Sample

    init(_ name: String, sample: @escaping @Sendable () async throws -> Sample) {
        self.name = name
        self.sample = sample
    }
}

/// What one contender cost in one round.
struct Sample: Sendable {
    /// Per call, waiter or schedule.
    var nanoseconds: Double

    /// Heap per waiter while all of them wait, where the platform tells.
    var bytes: Double?
}

/// A target: a contender's figure relative to another contender's in the same run.
struct Goal: Sendable {
    enum Quantity: String, Sendable, Encodable {
        case time
        case bytes
        /// How many times faster: a lower limit, where time and bytes have an upper limit.
        case speed
        /// Schedules a second, without another contender: a lower limit.
        case rate
    }

    let contender: String
    let base: String
    let quantity: Quantity
    let limit: Double

    static func time(of contender: String, to base: String, atMost limit: Double) -> Goal {
        Goal(contender: contender, base: base, quantity: .time, limit: limit)
    }

    static func bytes(of contender: String, to base: String, atMost limit: Double) -> Goal {
        Goal(contender: contender, base: base, quantity: .bytes, limit: limit)
    }

    static func speed(of contender: String, over base: String, atLeast limit: Double) -> Goal {
        Goal(contender: contender, base: base, quantity: .speed, limit: limit)
    }

    static func rate(of contender: String, atLeast limit: Double) -> Goal {
        Goal(contender: contender, base: contender, quantity: .rate, limit: limit)
    }

    func value(_ contender: Sample, _ base: Sample) -> Double? {
        switch quantity {
        case .time: contender.nanoseconds / base.nanoseconds
        case .speed: base.nanoseconds / contender.nanoseconds
        case .rate: 1e9 / contender.nanoseconds
        case .bytes:
            if let bytes = contender.bytes, let baseBytes = base.bytes { bytes / baseBytes } else { nil }
        }
    }

    func isMet(by value: Double) -> Bool {
        switch quantity {
        case .time, .bytes: value <= limit
        case .speed, .rate: value >= limit
        }
    }
}
