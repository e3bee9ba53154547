/// Runs the set-ups one after the other.
struct Tour: Sendable {
    let options: Options

    /// - Throws: what ``SetUpRun/run(onRound:)`` throws.
    func run(progress: ProgressLine) async throws -> [SetUpResult] {
        defer { progress.end() }
        var results: [SetUpResult] = []
        for name in options.setUps {
            let run = SetUpRun(name: name, rounds: options.rounds, callers: options.callers)
            results.append(
                try await run.run { round in progress.show(name, round: round, of: options.rounds) }
            )
        }
        return results
    }
}
