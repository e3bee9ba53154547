import AccessTokenGCD

/// The loader of the serving service: the real one, with a record of what it brings.
struct ServingLoader: AccessTokenLoader {
    let base: any AccessTokenLoader
    let trial: ShadowTrial

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        let load = trial.servingLoads()
        let answer = OneShot(abandoned: .failure(AccessTokenError.loadAbandoned)) { result in
            trial.loadFinished(load, result, then: handler)
        }
        base.load(replacing: old) { result in
            if !answer(result) { handler(result) }
        }
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        base.signOut(then: done)
    }
}

/// The loader of the shadow, which asks nobody: it waits for what the serving service's load brings.
struct ShadowLoader: AccessTokenLoader {
    let trial: ShadowTrial

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        trial.shadowLoads(then: handler)
    }
}
