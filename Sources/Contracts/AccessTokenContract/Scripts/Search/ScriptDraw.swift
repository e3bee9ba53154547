/// A script that is drawn step by step while it is played: which steps make sense depends on what the subject did.
///
/// What was played is kept as a literal, and does not need the seed to be played again.
struct ScriptDraw {
    /// In the end everybody is answered, and what was wrong until then is seen.
    private static let closing: [Step] = [
        .answer(.failure), .answer(.failure), .answer(.failure), .call, .answer(.token), .call, .pass(.freshness),
        .call,
        .signOut, .call,
    ]

    /// How scripts begin that are to come to what few steps lead to: a load ahead, a second token, a second session.
    private static let openings: [[Step]] = [
        [.signIn(.valid), .pass(.freshness), .call],
        [.call, .answer(.token), .pass(.freshness), .call, .answer(.failure), .call],
        [.signIn(.valid), .pass(.freshness), .call, .pass(.life), .call],
        [.signIn(.valid), .pass(.freshness), .call, .reject(.current), .call, .cancel(.first), .call],
        [.call, .answer(.token), .pass(.life), .call, .answer(.token)],
        [.call, .pass(.elevenSeconds), .call],
        [.call, .signOut, .signIn(.valid), .reject(.current), .call],
        [.signIn(.valid), .refresh],
        [.call, .pass(.sixSeconds), .signIn(.valid), .refresh],
        [.call, .signIn(.expired), .call],
    ]

    /// How many steps are drawn between the opening and the closing ones.
    private static let length = 12
    /// Among how many steps the one is chosen that was tried least.
    private static let candidates = 3

    let start: Script
    private let first: [Step]
    private let mix: StepMix
    private var generator: ScriptGenerator
    /// How many scripts before this batch met each situation.
    private let seen: [Situation: Int]

    init(seed: UInt64, for features: ContractFeatures, seen: [Situation: Int]) {
        self.seen = seen
        var generator = ScriptGenerator(seed: seed)
        let setting = generator.one(of: Script.Setting.possible(for: features))
        let hasInitialToken = features.contains(.initialToken) && generator.isOne(in: 4)
        let tokens: [Step.NewToken] = [.valid, .valid, .expired]
        start = Script(setting, initialToken: hasInitialToken ? generator.one(of: tokens) : nil, [])
            .adapted(to: features)
        mix = StepMix(setting, &generator)
        let habit: [Step] =
            switch generator.below(12) {
            case 0..<3: [.loader(.ignoresCancellation)]
            case 3: [.loader(.answersAtOnce)]
            case 4: [.loader(.failsAtOnce)]
            case 5: [.loader(.asksItsService)]
            default: []
            }
        let openings = Self.openings.filter { opening in opening.allSatisfy { $0.makesSense(with: setting.policy) } }
        first = habit + (generator.isOne(in: 2) ? generator.one(of: openings) : [])
        self.generator = generator
    }

    mutating func step(_ index: Int, in run: ScriptRun) -> Step? {
        if index < first.count { return first[index] }
        guard index < first.count + Self.length else {
            let rest = index - first.count - Self.length
            return rest < Self.closing.count ? Self.closing[rest] : nil
        }
        return rarest(of: Self.candidates, in: run) ?? .call
    }

    /// Of some steps that make sense now, the one that the fewest scripts have taken in the present situation.
    private mutating func rarest(of count: Int, in run: ScriptRun) -> Step? {
        var rarest: (step: Step, times: Int)?
        var left = count
        for _ in 0..<50 where left > 0 {
            let step = mix.draw(&generator)
            guard run.accepts(step) else { continue }
            left -= 1
            let times = seen[run.situation(of: step), default: 0]
            if times < rarest?.times ?? .max { rarest = (step, times) }
        }
        return rarest?.step
    }
}
