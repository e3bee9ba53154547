import AccessTokenGCD

extension ShadowRecord {
    /// Compares the answers of a call, of which one may be missing.
    mutating func compare(_ call: ShadowCall) -> [Effect] {
        guard !call.isExcused else {
            otherCalls += 1
            return []
        }
        if let a = call.answers.serving, let b = call.answers.shadow, areAlike(a.result, b.result) {
            comparedCalls += 1
            if let since = differsSince, let asked = call.asked.serving, asked > since { differsSince = nil }
            return []
        }
        guard differsSince == nil else {
            otherCalls += 1
            return []
        }
        var decisions = PerRole(ShadowDifference.Decision.silent)
        for role in ShadowRole.allCases {
            if let answer = call.answers[role] { decisions[role] = decision(answer.result, on: call, role) }
        }
        guard isExplained(call, .serving), isExplained(call, .shadow), !isTranslatedByOne(call) else {
            comparedCalls += 1
            differsSince = nextMoment()
            return [report(decisions)]
        }
        otherCalls += 1
        for role in ShadowRole.allCases {
            guard let index = loadInstead(of: call, role), let load = sources[index].load,
                case .report(let difference) = report(decisions)
            else { continue }
            // It may come to want that load as well, a moment later.
            guard !sources[index].isWaitedFor[role] else { return [] }
            sources[index].isWaitedFor[role] = true
            return [.wait(.sameLoad(difference, of: role, load: load))]
        }
        return []
    }

    // MARK: What timing explains

    /// Whether the service can have had its answer at some moment of the call.
    func isExplained(_ call: ShadowCall, _ role: ShadowRole) -> Bool {
        guard let answer = call.answers[role], let asked = call.asked[role] else { return false }
        switch answer.result {
        case .success(let token):
            return sources.contains { source in
                source.value == token.value && isOfSession(source, role, asked, answer.moment)
                    && !(source.rejected[role].map { $0 < asked } ?? false)
            }
        case .failure(let error):
            let isOfLoad = sources.indices.contains { index in
                isError(error, of: sources[index]) && isOfSession(sources[index], role, asked, answer.moment)
                    && !isOver(index, role, before: asked)
            }
            return isOfLoad || isOfService(error as? AccessTokenError, role, asked, answer.moment)
        }
    }

    /// Whether the service was given it by then, in a session that was not over by the time of the call nor of the giving.
    private func isOfSession(_ source: ShadowSource, _ role: ShadowRole, _ asked: Int, _ answered: Int) -> Bool {
        guard let wanted = source.wanted[role], let given = source.given[role], given < answered else { return false }
        return !sessions[role].contains { wanted < $0.moment && $0.moment < max(given, asked) }
    }

    /// Whether nobody who asks at that moment waits for the load any more: others were told, or the next one has begun.
    private func isOver(_ index: Int, _ role: ShadowRole, before asked: Int) -> Bool {
        if let shown = sources[index].shown[role], shown < asked { return true }
        return sources[(index + 1)...].contains { $0.load != nil && ($0.wanted[role].map { $0 < asked } ?? false) }
    }

    private func isOfService(_ error: AccessTokenError?, _ role: ShadowRole, _ asked: Int, _ answered: Int) -> Bool {
        switch error {
        case .signedOut:
            let before = sessions[role].last { $0.moment < asked }
            return before?.isSignOut == true
                || sessions[role].contains { $0.isSignOut && asked < $0.moment && $0.moment < answered }
        // Two deadlines never pass at the same moment. Who has none is silent for longer than patience lasts.
        case .loadTimedOut: return true
        default: return false
        }
    }

    /// Where the load is that the other service wanted before the call, in place of the token that this one answers with.
    private func loadInstead(of call: ShadowCall, _ role: ShadowRole) -> Int? {
        guard case .success = call.answers[role]?.result, let asked = call.asked.serving,
            let index = source(of: call.answers[role]?.result, of: role)
        else { return nil }
        let source = sources[index]
        guard !source.isRejectedEarly[role], source.session == sessionCount else { return nil }
        guard let newest = sources.lastIndex(where: { $0.session == sessionCount && $0.wanted[role] != nil }),
            sources[newest].shown[role] != nil, !(role == .shadow && sources[newest].isLateForShadow)
        else { return nil }
        return sources.indices[(newest + 1)...].first { index in
            sources[index].load != nil && (sources[index].wanted[role.other].map { $0 < asked } ?? false)
        }
    }

    // MARK: Answers

    /// Where the service has the answer from: a token, from the last that brought it; an error, from the first load whose
    /// error was not shown yet.
    func source(of result: Result<AccessToken, any Error>?, of role: ShadowRole) -> Int? {
        switch result {
        case .success(let token):
            return sources.lastIndex { $0.value == token.value && $0.given[role] != nil }
        case .failure(let error):
            return sources.firstIndex {
                isError(error, of: $0) && $0.given[role] != nil && $0.shown[role] == nil
            }
        case nil:
            return nil
        }
    }

    func areAlike(_ a: Result<AccessToken, any Error>, _ b: Result<AccessToken, any Error>) -> Bool {
        switch (a, b) {
        case (.success(let a), .success(let b)): a.value == b.value
        case (.failure(let a), .failure(let b)): name(of: a) == name(of: b)
        case (.success, .failure), (.failure, .success): false
        }
    }

    func report(_ decisions: PerRole<ShadowDifference.Decision>) -> Effect {
        .report(ShadowDifference(serving: servingSide, decisions.serving, shadow: decisions.shadow))
    }

    func decision(
        _ result: Result<AccessToken, any Error>,
        on call: ShadowCall,
        _ role: ShadowRole
    ) -> ShadowDifference.Decision {
        switch result {
        case .success:
            guard let index = source(of: result, of: role), let load = sources[index].load else {
                return .cached(load: nil)
            }
            let isNew = (sources[index].given[role] ?? 0) > (call.asked[role] ?? 0)
            return isNew ? .loaded(load: load) : .cached(load: load)
        case .failure(let error):
            return .failed(name(of: error))
        }
    }

    /// Whether the service can have this error from there, under the load's name for it or under its own.
    private func isError(_ error: any Error, of source: ShadowSource) -> Bool {
        guard let name = errorName(of: source) else { return false }
        return name == self.name(of: error) || isTranslated(error)
    }

    /// Whether it is an error of a service's own, which no load has brought: an app may have one for all that goes wrong.
    private func isTranslated(_ error: any Error) -> Bool {
        let name = name(of: error)
        return !(error is AccessTokenError) && !(error is CancellationError)
            && !sources.contains { errorName(of: $0) == name }
    }

    /// Whether the services have different names for what goes wrong, which no timing explains.
    private func isTranslatedByOne(_ call: ShadowCall) -> Bool {
        guard case .failure(let a) = call.answers.serving?.result, case .failure(let b) = call.answers.shadow?.result
        else { return false }
        return isTranslated(a) || isTranslated(b)
    }

    private func errorName(of source: ShadowSource) -> String? {
        guard case .failure(let error) = source.result else { return nil }
        return name(of: error)
    }

    /// A name without anything of the error's text, which may hold whatever a server sent.
    private func name(of error: any Error) -> String {
        (error as? AccessTokenError)?.name ?? String(describing: type(of: error))
    }
}
