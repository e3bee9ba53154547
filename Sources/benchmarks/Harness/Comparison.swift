/// Contenders that are sampled in turns (A B C A B C …), so that what else the machine does hits all of them alike.
struct Comparison: Sendable {
    /// The row of the table, by its letter; several comparisons can make up one row.
    let row: String
    let title: String

    /// The number of waiters or accounts, where there are any.
    var count: Int?

    /// Rounds that count; one more comes before them and does not.
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
