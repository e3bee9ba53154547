/// The figures of a comparison, and whether its goals are met.
struct Outcome: Sendable, Encodable {
    struct Figure: Sendable, Encodable {
        let name: String
        let nanoseconds: Distribution
        let bytes: Distribution?
        /// The contender's time over the first contender's, round by round.
        let ratio: Distribution
    }

    struct Verdict: Sendable, Encodable {
        let contender: String
        let base: String
        let quantity: Goal.Quantity
        let limit: Double
        let value: Distribution
        let isMet: Bool
    }

    let row: String
    let title: String
    let count: Int?
    let rounds: Int
    let figures: [Figure]
    let verdicts: [Verdict]

    init(of comparison: Comparison, samples: [[Sample]]) {
        row = comparison.row
        title = comparison.title
        count = comparison.count
        rounds = comparison.rounds
        let names = comparison.contenders.map(\.name)
        figures = zip(names, samples).compactMap { name, own in
            let ratios = zip(own, samples[0]).map { $0.nanoseconds / $1.nanoseconds }
            guard let nanoseconds = Distribution(own.map(\.nanoseconds)), let ratio = Distribution(ratios) else {
                return nil
            }
            let bytes = Distribution(own.compactMap(\.bytes))
            return Figure(name: name, nanoseconds: nanoseconds, bytes: bytes, ratio: ratio)
        }
        verdicts = comparison.goals.compactMap { goal in
            guard let own = names.firstIndex(of: goal.contender), let base = names.firstIndex(of: goal.base),
                let value = Distribution(zip(samples[own], samples[base]).compactMap(goal.value))
            else { return nil }
            return Verdict(
                contender: goal.contender,
                base: goal.base,
                quantity: goal.quantity,
                limit: goal.limit,
                value: value,
                isMet: goal.isMet(by: value.median)
            )
        }
    }
}

/// The median of some values, and the quartiles on either side of it.
struct Distribution: Sendable, Encodable {
    let median: Double
    let lowerQuartile: Double
    let upperQuartile: Double

    init?(_ values: [Double]) {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        func quantile(_ fraction: Double) -> Double {
            let position = fraction * Double(sorted.count - 1)
            let below = Int(position)
            let above = min(below + 1, sorted.count - 1)
            return sorted[below] + (sorted[above] - sorted[below]) * (position - Double(below))
        }
        median = quantile(0.5)
        lowerQuartile = quantile(0.25)
        upperQuartile = quantile(0.75)
    }
}
