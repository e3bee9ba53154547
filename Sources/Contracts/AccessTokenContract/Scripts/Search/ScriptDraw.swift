/// A script that is drawn step by step while it is played: which steps make sense depends on what the subject did.
///
/// What was played is kept as a literal, and does not need the seed to be played again.
struct ScriptDraw {
    /// In the end everybody is answered, and what was wrong until then is seen.
    private static let closing: [Step] = [
        .answer(.failure), .answer(.failure), .answer(.failure), .call, .answer(.token), .call, .signOut, .call,
    ]

    /// How many steps are drawn before the closing ones.
    static let length = 14

    let start: Script
    private let first: [Step]
    private let mix: StepMix
    private var generator: ScriptGenerator

    init(seed: UInt64, for features: ContractFeatures) {
        var generator = ScriptGenerator(seed: seed)
        let setting = generator.one(of: Script.Setting.possible(for: features))
        let hasInitialToken = features.contains(.initialToken) && generator.isOne(in: 4)
        let tokens: [Step.NewToken] = features.contains(.expiry) ? [.valid, .valid, .expired] : [.valid]
        start = Script(setting, initialToken: hasInitialToken ? generator.one(of: tokens) : nil, [])
        mix = StepMix(setting, &generator)
        first =
            switch generator.below(12) {
            case 0..<3: [.loader(.ignoresCancellation)]
            case 3: [.loader(.answersAtOnce)]
            case 4: [.loader(.failsAtOnce)]
            case 5: [.loader(.asksItsService)]
            default: []
            }
        self.generator = generator
    }

    mutating func step(_ index: Int, in run: ScriptRun) -> Step? {
        if index < first.count { return first[index] }
        guard index < Self.length else {
            let rest = index - Self.length
            return rest < Self.closing.count ? Self.closing[rest] : nil
        }
        for _ in 0..<50 {
            let step = mix.draw(&generator)
            if run.accepts(step) { return step }
        }
        return .call
    }
}
