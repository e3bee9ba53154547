import TestSupport

/// Inputs drawn at random, and the search for the shortest ones that show the same fault.
struct Script: CustomStringConvertible {
    private(set) var inputs: [Input]

    /// In a form that can be pasted into ``RandomScriptTests/given``.
    var description: String { "[" + inputs.map { "\($0)" }.joined(separator: ", ") + "]" }

    init(_ inputs: [Input]) { self.inputs = inputs }

    /// Draws inputs and performs them; throws the first mismatch.
    static func play(
        _ length: Int,
        with generator: inout SeededGenerator,
        in run: ScriptRun,
        noting script: inout Script
    ) throws {
        for _ in 0..<length {
            let input = draw(run, &generator)
            guard run.accepts(input) else { continue }
            script.inputs.append(input)
            try run.perform(input)
        }
        // No caller may wait for ever: every load answers, those included that begin meanwhile.
        while let load = run.silentLoads.first {
            script.inputs.append(.finish(load: load, .failure))
            try run.perform(.finish(load: load, .failure))
        }
        // What comes too late is seen before the next input's answer.
        script.inputs += [.signOut, .retrieve]
        try run.perform(.signOut)
        try run.perform(.retrieve)
    }

    /// The inputs again, those left out that make no sense any more; returns the first mismatch.
    func mismatch(in run: ScriptRun) -> (any Error)? {
        do {
            for input in inputs where run.accepts(input) { try run.perform(input) }
            return nil
        } catch {
            return error
        }
    }

    /// Leaves out as much as it can while there is a mismatch; gives up after a while, since each missing answer is
    /// waited for.
    func shortened(_ makeRun: () -> ScriptRun) -> Script {
        let end = ContinuousClock.now.advanced(by: .seconds(20))
        var shortest = self
        var length = max(1, inputs.count / 2)
        while length > 0 {
            var start = 0
            while start < shortest.inputs.count, ContinuousClock.now < end {
                var shorter = shortest
                shorter.inputs.removeSubrange(start..<min(start + length, shorter.inputs.count))
                if shorter.mismatch(in: makeRun()) != nil { shortest = shorter } else { start += length }
            }
            length /= 2
        }
        return shortest
    }

    private static func draw(_ run: ScriptRun, _ generator: inout SeededGenerator) -> Input {
        let facts = run.specification.facts
        let load = run.silentLoads.randomElement(using: &generator)
        let caller = max(1, run.specification.callers)
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<30: return .retrieve
        case ..<33: return .retrieveCancelled
        case ..<37: return load.map { .askByLoader(load: $0) } ?? .retrieve
        case ..<45: return facts.waiting.randomElement(using: &generator).map { .cancel(caller: $0) } ?? .retrieve
        case ..<47:
            return run.specification.callers == 0
                ? .retrieve : .cancel(caller: .random(in: 1...caller, using: &generator))
        case ..<66:
            guard let load else { return .retrieve }
            let answers: [Input.Answer] = [
                .token, .token, .token, .token, .failure, .failure, .expiredToken, .sameToken,
            ]
            return .finish(load: load, answers.randomElement(using: &generator) ?? .token)
        case ..<68: return run.lastAnswered.map { .answerAgain(load: $0) } ?? .retrieve
        case ..<73:
            guard let load = facts.loads.suffix(3).randomElement(using: &generator) else { return .retrieve }
            return .deadline(load: load.number)
        case ..<80:
            let token = run.specification.current ?? facts.held.randomElement(using: &generator)
            return .invalidate(token?.value ?? "of nobody")
        case ..<82: return .invalidate(facts.held.randomElement(using: &generator)?.value ?? "of nobody")
        case ..<85: return .signIn
        case ..<86: return .signInExpired
        case ..<88: return .signInWithoutToken
        case ..<92: return .signOut
        case ..<96: return .clock(.nextEdge)
        case ..<99: return .clock(.pastAll)
        default: return .clock(.back)
        }
    }
}
