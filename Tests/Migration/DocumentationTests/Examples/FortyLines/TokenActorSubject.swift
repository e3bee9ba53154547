import AccessTokenContract

let tokenActorSubject = ContractSubject(
    "forty lines",
    features: [.asyncCallers, .expiry, .invalidation, .signIn, .signOut]
) { fixture in
    let tokens = TokenActor(now: { fixture.clock.now }) {
        try await fixture.loader.load(replacing: nil)
    }
    return .awaiting {
        try await tokens.validToken()
    } invalidate: { token in
        await tokens.reject(token)
    } signIn: { token in
        await tokens.signIn(token)
    } signOut: {
        await tokens.signOut()
    }
}
