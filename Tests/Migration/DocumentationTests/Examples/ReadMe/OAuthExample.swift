import AccessTokenOAuth
import Foundation

func tokens(from tokenURL: URL, keptIn folder: URL) -> AsyncAccessTokenService {
    let endpoint = TokenEndpoint(tokenURL, authentication: .none(clientID: "app"))
    let loader = OAuthLoader(endpoint: endpoint, store: FileCredentialStore(folder: folder))
    return AsyncAccessTokenService(loader: RetryingLoader(loader))
}
