import AccessTokenAsync
import AccessTokenOAuth

/// What a naive set-up loads with: read the refresh token, exchange it, write what came.
///
/// Each of the three is right, and nothing keeps two loads from doing them in turn.
struct NaiveTokenLoader: AsyncAccessTokenLoader {
    let endpoint: TokenEndpoint
    let store: any CredentialStore

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        guard let credential = try await store.load()?.credential, let sent = credential.refreshToken else {
            throw AccessTokenError.signedOut
        }
        do {
            let response = try await endpoint.exchange(.refreshToken(sent))
            try await store.update { _ in .replace(Credential(response, renewing: credential)) }
            return response.accessToken
        } catch let error as OAuthError where error.requiresSignIn {
            // Never send a refused token again; but a token that is not the one sent is not ours to drop.
            try await store.update { $0?.credential.refreshToken == sent ? .remove : .keep }
            throw error
        }
    }
}
