import AccessTokenGCD

extension ShadowRecord {
    /// The serving service loads; what the shadow has wanted until now is answered by this load.
    mutating func servingLoads() -> Int {
        lastLoadNumber += 1
        var source = ShadowSource(load: lastLoadNumber, session: sessionCount)
        source.wanted.serving = nextMoment()
        for index in wants.indices where !isRunning(wants[index].load) {
            wants[index].load = lastLoadNumber
            source.wanted.shadow = wants[index].moment
        }
        add(source)
        return lastLoadNumber
    }

    private func isRunning(_ load: Int?) -> Bool {
        load != nil && sources.contains { $0.load == load && $0.result == nil }
    }

    /// The serving service is about to be given the answer of its load.
    mutating func loadFinished(_ load: Int, _ result: Result<AccessToken, any Error>) -> [Effect] {
        guard let index = sources.firstIndex(where: { $0.load == load }) else {
            // So many loads have begun since that it is forgotten, but the service may adopt what it brings (T2).
            differsSince = nextMoment()
            return []
        }
        sources[index].result = result
        sources[index].given.serving = nextMoment()
        return answerWants()
    }

    /// The shadow wants a load: it is given the answer of the newest one of this session that it has not had yet, now or
    /// later, or of the next one.
    ///
    /// It has had a load whose answer it was given, whether it has shown that or not: nobody may have waited any more.
    mutating func shadowLoads(then handler: @escaping AccessTokenHandler) -> [Effect] {
        var want = Want(moment: nextMoment(), handler: handler)
        if let index = sources.lastIndex(where: { $0.load != nil && $0.session == sessionCount }),
            sources[index].given.shadow == nil
        {
            want.load = sources[index].load
            sources[index].wanted.shadow = want.moment
        }
        wants.append(want)
        return answerWants() + [.wait(.newLoad(ofShadow: want.moment, since: want.moment))]
    }

    /// Answers what the shadow wants, as far as the loads have answered.
    private mutating func answerWants() -> [Effect] {
        var effects: [Effect] = []
        wants = wants.filter { want in
            guard let source = sources.first(where: { $0.load == want.load && $0.load != nil }),
                let result = source.result
            else { return true }
            effects.append(.answerShadow(want.handler, load: source.load, result))
            return false
        }
        return effects
    }

    /// The shadow is about to be given the answer of a load.
    mutating func giveShadow(load: Int?) {
        let now = nextMoment()
        guard let index = sources.firstIndex(where: { $0.load == load && $0.load != nil }) else { return }
        sources[index].given.shadow = sources[index].given.shadow ?? now
    }

    /// Patience has ended with a load that only the shadow wants.
    ///
    /// It is a difference if callers who came after that have their answer from the serving service: it saw no need of a
    /// load at a time when the shadow had seen one. The shadow is given what these callers were told, to go on as it would.
    mutating func newLoadIsMissing(_ moment: Int, since: Int) -> [Effect] {
        guard let index = wants.firstIndex(where: { $0.moment == moment }) else { return [] }
        guard !isRunning(wants[index].load) else {
            return [.wait(.newLoad(ofShadow: moment, since: nextMoment()))]
        }
        let unanswered = calls.keys.sorted().filter {
            calls[$0]?.answers.shadow == nil && calls[$0]?.answers.serving != nil
        }
        let telling = unanswered.compactMap { calls[$0] }.filter { call in
            !call.isExcused && (isLater(call, than: moment) || !isExplained(call, .serving))
        }
        // What the shadow was given a moment ago, it may still answer.
        if !telling.isEmpty, telling.allSatisfy({ ($0.answers.serving?.moment ?? 0) > since }) {
            return [.wait(.newLoad(ofShadow: moment, since: nextMoment()))]
        }
        let isOfFormerSession = sessions.shadow.contains { $0.moment > moment }
        // A shadow whose callers have gone can wait for the next load.
        guard isOfFormerSession || !unanswered.isEmpty else {
            wants[index].isWaiting = false
            return []
        }
        // An error leaves nothing behind. It is all that there is to give when the latest token is rejected by now.
        let abandoned = Result<AccessToken, any Error>.failure(AccessTokenError.loadAbandoned)
        let answer = isOfFormerSession ? abandoned : latestAnswer ?? abandoned
        var effects: [Effect] = []
        if let call = telling.first, let answer = call.answers.serving, differsSince == nil, !mayHaveGivenUp {
            differsSince = nextMoment()
            comparedCalls += 1
            var decisions = PerRole(ShadowDifference.Decision.wantedLoad)
            decisions.serving = decision(answer.result, on: call, .serving)
            effects.append(report(decisions))
        }
        for number in unanswered { calls[number]?.isExcused = true }
        if let index = source(of: answer, of: .serving) {
            sources[index].wanted.shadow = sources[index].wanted.shadow ?? moment
            sources[index].given.shadow = sources[index].given.shadow ?? nextMoment()
        }
        return effects + [.answerShadow(wants.remove(at: index).handler, load: nil, answer)]
    }

    /// Whether the shadow was given the newest load without showing it: its own deadline may have passed before, and it
    /// then wants the next load in the place of that one.
    private var mayHaveGivenUp: Bool {
        guard let newest = sources.last(where: { $0.load != nil && $0.session == sessionCount }) else { return false }
        return newest.given.shadow != nil && newest.shown.shadow == nil
    }

    /// Whether the call came after the shadow's want, and in the same session, for either service.
    private func isLater(_ call: ShadowCall, than want: Int) -> Bool {
        ShadowRole.allCases.allSatisfy { role in
            guard let asked = call.asked[role], asked > want else { return false }
            return !sessions[role].contains { want < $0.moment && $0.moment < asked }
        }
    }

    /// Whether the shadow wants a load that the serving service will not make, so that only the end of patience goes on.
    var isWaitingForPatience: Bool {
        inputsBehind == 0 && wants.contains { !isRunning($0.load) }
            && sources.allSatisfy { $0.wanted.serving == nil || $0.given.serving != nil }
            && calls.values.allSatisfy { $0.answers.serving != nil }
    }

    /// The serving service has answered a call, and so there is something to give to a shadow that waits in vain.
    mutating func waitForNewLoads() -> [Effect] {
        wants.indices.compactMap { index in
            guard !wants[index].isWaiting else { return nil }
            wants[index].isWaiting = true
            return .wait(.newLoad(ofShadow: wants[index].moment, since: nextMoment()))
        }
    }

    /// Patience has ended, and a service has still not wanted the load that the other one made.
    mutating func sameLoadIsMissing(_ difference: ShadowDifference, _ role: ShadowRole, _ load: Int) -> [Effect] {
        guard let index = sources.firstIndex(where: { $0.load == load }) else { return [] }
        sources[index].isWaitedFor[role] = false
        guard differsSince == nil, sources[index...].allSatisfy({ $0.wanted[role] == nil }) else { return [] }
        differsSince = nextMoment()
        return [.report(difference)]
    }
}
