import AccessTokenAsync

/// Brings a valid token when its gate is opened.
struct GatedLoader: AsyncAccessTokenLoader {
    let gate: Gate

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        await gate.pass()
        return .valid
    }
}
