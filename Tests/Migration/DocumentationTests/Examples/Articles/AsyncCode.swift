import AccessTokenAsync

enum AsyncCode {
    actor RotatingLoader: AsyncAccessTokenLoader {
        private let endpoint: YourEndpoint
        private var refreshToken: String?

        init(endpoint: YourEndpoint, refreshToken: String?) {
            self.endpoint = endpoint
            self.refreshToken = refreshToken
        }

        func load(replacing old: AccessToken?) async throws -> AccessToken {
            guard let sent = refreshToken else { throw AccessTokenError.signedOut }
            do {
                let reply = try await endpoint.exchange(sent)
                if refreshToken == sent { refreshToken = reply.refreshToken }
                return AccessToken(value: reply.value, expiration: reply.expiresAt)
            } catch YourEndpoint.Refusal.invalidGrant {
                if refreshToken == sent { refreshToken = nil }
                throw AccessTokenError.signedOut  // The session is over. Only a login helps.
            }
        }

        func signOut() { refreshToken = nil }
    }

    @MainActor
    final class LoginModel: AsyncAccessTokenLoader {
        private(set) var isRefreshing = false
        private let endpoint = YourEndpoint()

        @MainActor func load(replacing old: AccessToken?) async throws -> AccessToken {
            isRefreshing = true
            defer { isRefreshing = false }
            let reply = try await endpoint.requestToken()
            return AccessToken(value: reply.value, expiration: reply.expiresAt)
        }
    }
}
