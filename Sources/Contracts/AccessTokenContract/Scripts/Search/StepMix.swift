/// How often each kind of step is drawn in one script.
///
/// Each script leaves out about half of the kinds (swarm testing): scripts differ in what they are about, and a kind
/// that ends every script early, such as a sign-out, does not hide what comes of the others.
struct StepMix: Sendable {
    private typealias Draw = @Sendable (inout ScriptGenerator) -> Step

    private var kinds: [(weight: Int, draw: Draw)] = []
    private var total = 0

    init(_ setting: Script.Setting, _ generator: inout ScriptGenerator) {
        let reactions = Step.Reaction.allCases.filter { _ in generator.isOne(in: 3) }
        let reacting = generator.isOne(in: 2) ? 40 : 0
        let reaction: @Sendable (inout ScriptGenerator) -> Step.Reaction? = { generator in
            !reactions.isEmpty && generator.below(100) < reacting ? generator.one(of: reactions) : nil
        }
        let rare: [Step.Answer] = [
            .cancellation, .endlessToken, .expiredToken, .sameToken, .identicalToken, .shortToken, .permanentFailure,
        ]
        let answers =
            [.token, .token, .token, .failure, .failure] + rare.filter { _ in generator.isOne(in: 4) }

        always(24) { .retrieve(refresh: false, isCancelled: false, then: reaction(&$0)) }
        always(18) { .answer($0.one(of: answers), from: $0.one(of: [.newest, .oldest])) }
        func maybe(_ weight: Int, _ draw: @escaping Draw) {
            if generator.isOne(in: 2) { always(weight, draw) }
        }
        maybe(12) { .retrieve(refresh: true, isCancelled: false, then: reaction(&$0)) }
        maybe(4) { _ in .cancelledCall }
        maybe(4) { .crowd(rejecting: $0.isOne(in: 2)) }
        maybe(10) { .cancel($0.one(of: [.first, .last, .last, .answered])) }
        maybe(4) { .again($0.one(of: [.token, .failure])) }
        maybe(8) { .reject($0.one(of: [.current, .current, .former])) }
        maybe(7) { .signIn($0.one(of: [.valid, .valid, .expired])) }
        maybe(7) { _ in .signOut }
        if setting.policy.loadDeadline != nil {
            let times: [Step.Time] = [
                .fourSeconds, .sixSeconds, .nineSeconds, .elevenSeconds, .elevenSeconds, .elevenSeconds,
            ]
            maybe(14) { .pass($0.one(of: times)) }
        }
        if setting.policy.refreshAhead > 0 { maybe(10) { _ in .pass(.freshness) } }
        if setting.policy.leeway > 0 { maybe(5) { _ in .pass(.leeway) } }
        maybe(5) { _ in .pass(.life) }
        maybe(3) { .pass($0.one(of: [.beforeEnd, .end, .back])) }
        maybe(4) { .callRightAfter($0.one(of: Step.Change.allCases)) }
        maybe(2) { _ in .answerAmidCalls }
        maybe(1) { _ in .drop }
    }

    private mutating func always(_ weight: Int, _ draw: @escaping Draw) {
        kinds.append((weight, draw))
        total += weight
    }

    func draw(_ generator: inout ScriptGenerator) -> Step {
        var left = generator.below(total)
        for (weight, draw) in kinds {
            left -= weight
            if left < 0 { return draw(&generator) }
        }
        return .call
    }
}
