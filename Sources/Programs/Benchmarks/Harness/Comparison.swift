import ConsoleSupport
import Foundation

/// Contenders that are sampled alternately (A B A B …): other work of the machine slows all of them alike.
struct Comparison: Sendable {
    let title: String
    /// Rounds that count, after one to warm up.
    let rounds: Int
    /// The first is the base of the ratios.
    let contenders: [Contender]

    func run(onRound: (Int) -> Void) async throws -> Outcome {
        var samples = contenders.map { _ in [Sample]() }
        for round in 0...rounds {
            onRound(round)
            for (index, contender) in contenders.enumerated() {
                let sample = try await contender.sample()
                if round > 0 { samples[index].append(sample) }
            }
        }
        return Outcome(comparison: self, samples: samples)
    }
}

/// One way to do what a comparison compares.
struct Contender: Sendable {
    let name: String
    /// How many times the cost of the base it may have at most, in the same run.
    let limit: Double?
    /// Measures many repetitions, and returns the cost of one.
    let sample: @Sendable () async throws -> Sample

    init(_ name: String, limit: Double? = nil, sample: @escaping @Sendable () async throws -> Sample) {
        self.name = name
        self.limit = limit
        self.sample = sample
    }
}

/// What one contender cost in one round, per call or waiter.
struct Sample: Sendable {
    let nanoseconds: Double
}

/// What a comparison found.
struct Outcome {
    let comparison: Comparison
    /// By contender, and by round.
    let samples: [[Sample]]

    var targets: [Bool] { verdicts.map(\.isMet) }

    /// The table and the verdicts, for a terminal.
    var text: String {
        let rows = zip(comparison.contenders, samples).map { contender, own in
            [contender.name, Self.time(Spread(own.map(\.nanoseconds)).median), ratio(own, samples[0]).text]
        }
        let table = TextTable(header: [comparison.title, "time", "ratio"], rows: rows)
        return ([table.text] + verdicts.map(\.text)).joined(separator: "\n") + "\n"
    }

    private var verdicts: [(isMet: Bool, text: String)] {
        zip(comparison.contenders, samples).compactMap { contender, own in
            guard let limit = contender.limit else { return nil }
            let ratio = ratio(own, samples[0])
            let isMet = ratio.median <= limit
            let words = "\(contender.name) ≤ \(limit) × \(comparison.contenders[0].name): \(ratio.text)"
            return (isMet, "\(isMet ? "met:   " : "MISSED:") \(words)")
        }
    }

    private func ratio(_ own: [Sample], _ base: [Sample]) -> Spread {
        Spread(zip(own, base).map { $0.nanoseconds / $1.nanoseconds })
    }

    private static func time(_ nanoseconds: Double) -> String {
        nanoseconds < 10_000
            ? String(format: "%.1f ns", nanoseconds) : String(format: "%.1f µs", nanoseconds / 1_000)
    }
}

/// The median of some values, at least one, and the quartiles on either side of it.
struct Spread {
    let median: Double
    private let quartiles: (lower: Double, upper: Double)

    init(_ values: [Double]) {
        let sorted = values.sorted()
        median = sorted[sorted.count / 2]
        quartiles = (sorted[sorted.count / 4], sorted[sorted.count * 3 / 4])
    }

    var text: String {
        String(
            format: median < 100 ? "%.2f (%.2f to %.2f)" : "%.0f (%.0f to %.0f)",
            median,
            quartiles.lower,
            quartiles.upper
        )
    }
}
