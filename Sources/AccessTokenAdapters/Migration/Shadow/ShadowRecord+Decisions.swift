import AccessTokenGCD

extension ShadowRecord {
    func report(_ serving: ShadowDifference.Decision, _ shadow: ShadowDifference.Decision) -> Effect {
        .report(ShadowDifference(serving: servingSide, serving, shadow: shadow))
    }

    func decision(_ result: Result<AccessToken, any Error>, on call: Call) -> ShadowDifference.Decision {
        switch result {
        case .success(let token):
            let load = recentTokens.last { $0.value == token.value }?.load
            return if let load, load > call.loadsBefore { .loaded(load: load) } else { .cached(load: load) }
        case .failure(let error):
            return .failed(name(of: error))
        }
    }

    func areAlike(_ a: Result<AccessToken, any Error>, _ b: Result<AccessToken, any Error>) -> Bool {
        switch (a, b) {
        case (.success(let a), .success(let b)): a.value == b.value
        case (.failure(let a), .failure(let b)): name(of: a) == name(of: b)
        case (.success, .failure), (.failure, .success): false
        }
    }

    /// Says whether two services that both gave this answer are in the same state: with this token, or signed out.
    func showsState(_ result: Result<AccessToken, any Error>) -> Bool {
        switch result {
        case .success: true
        case .failure(let error): error as? AccessTokenError == .signedOut
        }
    }

    /// A name without anything of the error's text, which may hold whatever a server sent.
    private func name(of error: any Error) -> String {
        (error as? AccessTokenError)?.name ?? String(describing: type(of: error))
    }
}
