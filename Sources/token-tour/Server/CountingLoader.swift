import AccessTokenAsync

/// Writes down what a loader asks for and what it gets.
struct CountingLoader: AsyncAccessTokenLoader {
    let base: any AsyncAccessTokenLoader
    let held: HeldCredential
    let log: ClientLog

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        let rotations = held.rotations
        log.sends()
        do {
            let token = try await base.load(replacing: old)
            log.receives(token, withRotation: held.rotations > rotations)
            return token
        } catch {
            log.receives(error)
            throw error
        }
    }

    func signOut() async { await base.signOut() }
}
