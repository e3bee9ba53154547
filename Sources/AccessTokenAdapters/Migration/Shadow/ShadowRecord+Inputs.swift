import AccessTokenGCD

extension ShadowRecord {
    mutating func newCall() -> Int {
        lastCallNumber += 1
        return lastCallNumber
    }

    /// Gives an input to the serving service; says how many answers of loads that was given before it.
    ///
    /// A session that begins or ends while a load is wanted, and has not come to the loader, spoils the period as well:
    /// one service may still begin that load, and the other not.
    mutating func giveServing(_ input: Input) -> Int {
        underWay += 1
        if case .cancellation(let call) = input {
            calls[call]?.isCancelled = true
            return serving.results
        }
        if !serving.isSettled { isSpoiled = true }
        lastCall = nil
        lastCallAgrees = false
        switch input {
        case .call(let number):
            lastCall = number
            calls[number] = Call(isComparable: areInStep && !isSpoiled, loadsBefore: lastLoadNumber)
            serving.unanswered.insert(number)
        case .newSession:
            if !serving.unanswered.isEmpty, serving.openLoads == 0 { isSpoiled = true }
            if isSpoiled { setApart(serving.unanswered) }
            hasNewSession = true
            serving.beginSession()
        case .rejection, .cancellation:
            break
        }
        return serving.results
    }

    /// Gives the same input to the shadow.
    mutating func giveShadow(_ input: Input, afterResults results: Int) {
        if case .cancellation = input { return }
        if !shadow.isSettled || shadow.results != results { isSpoiled = true }
        switch input {
        case .call(let number):
            if isSpoiled { calls[number]?.isComparable = false }
            shadow.unanswered.insert(number)
        case .newSession:
            if !shadow.unanswered.isEmpty, shadow.openLoads == 0 { isSpoiled = true }
            if isSpoiled { setApart(shadow.unanswered) }
            shadow.beginSession()
        case .rejection, .cancellation:
            break
        }
    }

    /// Who waits while a load's answer is digested gets that, or what the change of the session brings: both are right.
    private mutating func setApart(_ numbers: Set<Int>) {
        for number in numbers { calls[number]?.isComparable = false }
    }

    /// The shadow has an input, or the answer of a load, that was on its way.
    mutating func gaveShadow() -> [Effect] {
        underWay -= 1
        return rest()
    }

    /// A service has answered a call; only its first answer counts.
    mutating func answered(
        _ number: Int,
        _ result: Result<AccessToken, any Error>,
        isServing: Bool
    ) -> [Effect] {
        if isServing { serving.answered(number) } else { shadow.answered(number) }
        guard var call = calls[number] else { return rest() }
        if isServing { call.serving = call.serving ?? result } else { call.shadow = call.shadow ?? result }
        calls[number] = call
        guard let serving = call.serving, let shadow = call.shadow else { return waitForOtherAnswers() }
        calls[number] = nil
        let agree = areAlike(serving, shadow)
        if number == lastCall, !call.isCancelled { lastCallAgrees = agree && showsState(serving) }
        guard call.isComparable, !call.isCancelled else {
            otherCalls += 1
            return rest()
        }
        comparedCalls += 1
        guard !agree else { return rest() }
        areInStep = false
        return [report(decision(serving, on: call), decision(shadow, on: call))] + rest()
    }

    /// Waits once for all calls that one of the two has answered by now.
    private mutating func waitForOtherAnswers() -> [Effect] {
        let calls = Set(calls.filter { $0.value.isHalfAnswered }.keys)
        guard !isWaitingForAnswers, !calls.isEmpty else { return [] }
        isWaitingForAnswers = true
        return [.wait(.otherAnswers(calls))]
    }

    /// Patience has ended with calls that only one of the two has answered.
    mutating func answersAreMissing(_ numbers: Set<Int>) -> [Effect] {
        isWaitingForAnswers = false
        var effects: [Effect] = []
        // Who is silent may have reason to wait for a load, or for what is on its way.
        if runningLoads.isEmpty, waitingLoads.isEmpty, underWay == 0 {
            for number in numbers.sorted() {
                guard let call = calls.removeValue(forKey: number) else { continue }
                serving.answered(number)
                shadow.answered(number)
                guard !call.isCancelled else { continue }
                areInStep = false
                let decisions = [call.serving, call.shadow].map { $0.map { decision($0, on: call) } ?? .silent }
                effects.append(report(decisions[0], decisions[1]))
            }
        }
        return effects + waitForOtherAnswers() + rest()
    }
}
