import AccessTokenGCD

extension ShadowRecord {
    /// A service is about to be given an input.
    mutating func give(_ input: Input, to role: ShadowRole) {
        let now = nextMoment()
        if role == .shadow {
            inputsBehind -= 1
            lastInputOfShadow = now
        }
        switch input {
        case .call(let number):
            calls[number]?.asked[role] = now
        case .cancellation(let number):
            calls[number]?.isExcused = true
        case .rejection(let token):
            reject(token, by: role, at: now)
        case .signIn(let token):
            beginSession(with: token, for: role, at: now)
        case .signOut:
            beginSession(with: nil, for: role, at: now)
        }
    }

    /// The shadow is about to be told again of a rejection, having shown the token meanwhile.
    mutating func rejectAgain(_ token: AccessToken) {
        reject(token, by: .shadow, at: nextMoment())
    }

    private mutating func reject(_ token: AccessToken, by role: ShadowRole, at moment: Int) {
        if role == .serving, (try? latestAnswer?.get())?.value == token.value { latestAnswer = nil }
        for index in sources.indices where sources[index].value == token.value {
            sources[index].reject(by: role, at: moment)
        }
    }

    /// The serving service was given an input; says whether the shadow is to be given it as well.
    mutating func isShadowNext() -> Bool {
        guard !isShadowGivenUp else { return false }
        inputsBehind += 1
        guard inputsBehind > Self.mostInputsBehind else { return true }
        isShadowGivenUp = true
        otherCalls += calls.count
        calls = [:]
        return false
    }

    private mutating func beginSession(with token: AccessToken?, for role: ShadowRole, at now: Int) {
        sessions[role] = sessions[role].suffix(Self.memory - 1) + [SessionStart(moment: now, isSignOut: token == nil)]
        if role == .serving {
            sessionCount += 1
            latestAnswer = nil
            if let token { add(ShadowSource(load: nil, session: sessionCount, result: .success(token))) }
        }
        if let token,
            let index = sources.firstIndex(where: { $0.load == nil && $0.value == token.value && $0.given[role] == nil }
            )
        {
            sources[index].wanted[role] = now
            sources[index].given[role] = now
            sources[index].shown[role] = now
        }
    }

    /// A service has answered a call.
    ///
    /// - Returns: what follows; and whether the answer is a token that the shadow should not have any more, since it was
    ///   told too early that the token is rejected.
    mutating func answered(
        _ number: Int,
        _ result: Result<AccessToken, any Error>,
        by role: ShadowRole
    ) -> (effects: [Effect], isRejected: Bool) {
        let now = nextMoment()
        let shown = source(of: result, of: role)
        if let shown { sources[shown].show(by: role, at: now) }
        let isRejected = role == .shadow && shown.map { sources[$0].mustBeRejectedAgain } == true
        if role == .serving, !isExcuse(result) { latestAnswer = result }
        var effects = role == .serving ? waitForNewLoads() : []
        guard var call = calls[number], call.answers[role] == nil else {
            return (effects, isRejected)
        }
        call.answers[role] = ShadowCall.Answer(result: result, moment: now)
        // Only the serving service can know that the call came from inside its load.
        if role == .serving, isExcuse(result) { call.isExcused = true }
        calls[number] = call
        if call.isHalfAnswered {
            effects += waitForOtherAnswers(since: now)
        } else {
            calls[number] = nil
            effects += compare(call)
        }
        return (effects, isRejected)
    }

    private mutating func waitForOtherAnswers(since moment: Int) -> [Effect] {
        guard !isWaitingForAnswers else { return [] }
        isWaitingForAnswers = true
        return [.wait(.otherAnswers(since: moment))]
    }

    private func isExcuse(_ result: Result<AccessToken, any Error>) -> Bool {
        guard case .failure(let error) = result else { return false }
        return error is CancellationError || error as? AccessTokenError == .loadAskedItsOwnService
    }

    /// Patience has ended with the calls that only one of the two had answered by then.
    mutating func otherAnswersAreMissing(since: Int) -> [Effect] {
        isWaitingForAnswers = false
        var effects: [Effect] = []
        let open = calls.filter { $0.value.isHalfAnswered }.keys.sorted()
        for number in open {
            guard let call = calls[number], let answer = call.answers.serving ?? call.answers.shadow,
                answer.moment <= since, !mayStillAnswer(call, since: since)
            else { continue }
            calls[number] = nil
            effects += compare(call)
        }
        let isOver = open.allSatisfy { calls[$0] == nil }
        return effects + (isOver ? [] : waitForOtherAnswers(since: nextMoment()))
    }

    /// Who is silent may wait for a load, or may have been given something that it has had no time for.
    private func mayStillAnswer(_ call: ShadowCall, since: Int) -> Bool {
        let role: ShadowRole = call.answers.serving == nil ? .serving : .shadow
        guard let asked = call.asked[role] else { return lastInputOfShadow > since }
        return asked > since || isWaiting(role, since: since)
    }

    private func isWaiting(_ role: ShadowRole, since: Int) -> Bool {
        if role == .shadow, !wants.isEmpty { return true }
        return sources.contains { source in
            guard source.wanted[role] != nil else { return false }
            return source.given[role].map { $0 > since } ?? true
        }
    }
}
