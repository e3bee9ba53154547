import AccessTokenAsync
import AccessTokenGCD
import AccessTokenOAuth

/// A set-up, ready to be called: the service as each world sees it.
struct Subject: Sendable {
    /// The service as callback callers see it; `nil` if there are none in this set-up.
    var callbackSide: (any AccessTokenProviding)?
    /// The service as async callers see it; `nil` if there are none in this set-up.
    var asyncSide: (any AsyncAccessTokenProviding)?
    let signInLoader: @Sendable (Credential) async throws -> Void
    let signInService: @Sendable (AccessToken) async -> Void

    /// Begins a session with this credential.
    func signIn(_ credential: Credential) async throws {
        try await signInLoader(credential)
        if let token = credential.accessToken { await signInService(token) }
    }

    /// Tells the service that this token was rejected.
    func invalidate(_ token: AccessToken) async {
        if let asyncSide {
            await asyncSide.invalidate(token)
        } else {
            callbackSide?.invalidate(token)
        }
    }

    /// So many callers in all, shared evenly among the worlds that the set-up has.
    func crowd(of count: Int, resource: ResourceClient, log: (Lane) -> CallerLog) -> Crowd {
        let callbackCount = callbackSide == nil ? 0 : asyncSide == nil ? count : (count + 1) / 2
        return Crowd(
            callbackCallers: callbackSide.map { service in
                let caller = CallbackCaller(service: service, resource: resource, log: log(.callbackCallers))
                return Array(repeating: caller, count: callbackCount)
            } ?? [],
            asyncCallers: asyncSide.map { service in
                let caller = AsyncCaller(service: service, resource: resource, log: log(.asyncCallers))
                return Array(repeating: caller, count: count - callbackCount)
            } ?? []
        )
    }
}
