import AccessTokenGCD

extension ShadowRecord {
    /// The serving service loads.
    mutating func servingLoads() -> ShadowLoad {
        let load = serving.startLoad()
        runningLoads.insert(load)
        return load
    }

    /// The serving service is about to be given the answer of its load.
    mutating func loadFinished(_ load: ShadowLoad, _ result: Result<AccessToken, any Error>) -> [Effect] {
        runningLoads.remove(load)
        results[load] = result
        latestResult = result
        lastLoadNumber += 1
        if case .success(let token) = result {
            recentTokens = recentTokens.suffix(15) + [(token.value, lastLoadNumber)]
        }
        serving.giveResult(of: load)
        guard let handler = waitingLoads.removeValue(forKey: load) else { return rest() }
        return answerShadow(handler, load, result)
    }

    /// The shadow wants a load: it is given the answer of the serving service's, now or when that comes.
    mutating func shadowLoads(then handler: @escaping AccessTokenHandler) -> [Effect] {
        let load = shadow.startLoad()
        if let result = results[load] { return answerShadow(handler, load, result) }
        waitingLoads[load] = handler
        return [.wait(.servingLoad(load))]
    }

    /// Patience has ended with a load that only the shadow wants.
    ///
    /// It is given the last answer that there was, so that it goes on as it would.
    mutating func servingLoadIsMissing(_ load: ShadowLoad) -> [Effect] {
        guard !runningLoads.contains(load), let handler = waitingLoads.removeValue(forKey: load) else { return [] }
        let answer = answerShadow(handler, load, latestResult ?? .failure(AccessTokenError.loadAbandoned))
        guard areInStep, !isSpoiled, !hasNewSession else { return answer }
        areInStep = false
        isSpoiled = true
        return [report(.wantedLoads(serving.loads), .wantedLoads(shadow.loads))] + answer
    }

    /// Patience has ended with both at rest, and not after the same number of loads.
    mutating func loadsAreUnequal(in period: Int) -> [Effect] {
        guard period == self.period else { return [] }
        isWaitingForLoads = false
        guard isAtRest, areInStep, !isSpoiled, !hasNewSession, serving.loads != shadow.loads else { return rest() }
        let report = report(.wantedLoads(serving.loads), .wantedLoads(shadow.loads))
        areInStep = false
        endPeriod()
        return [report]
    }

    private mutating func answerShadow(
        _ handler: @escaping AccessTokenHandler,
        _ load: ShadowLoad,
        _ result: Result<AccessToken, any Error>
    ) -> [Effect] {
        underWay += 1
        return [.answerShadow(handler, load, result)]
    }
}
