import AccessTokenOAuth
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

func notes(ofUserAt issuer: URL, from notesURL: URL, show: (URL) async throws -> URL) async throws -> String {
    let server = try await AuthorizationServer.discover(issuer)
    let endpoint = try server.tokenEndpoint(.none(clientID: "app"))
    let loader = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore())
    let tokens = AsyncAccessTokenService(loader: loader)

    // 1. The app asks the provider for a token: the user's browser opens this URL.
    let login = try AuthorizationCodeLogin(at: server, clientID: "app", redirectURI: "com.example.app:/callback")
    // 2. The provider checks who the user is, and sends the browser back with a code.
    let grant = try login.grant(from: try await show(login.url))
    // 3. The provider exchanges the code for an access token, with which the session begins.
    try await loader.signIn(Credential(try await endpoint.exchange(grant)), to: tokens)

    // 4. The app sends a request with the token.
    let session = AsyncBearerSession(tokens: tokens, origins: [notesURL])
    // 5 and 6. The server validates the token. If it answers 401, the session asks once more, with the next token.
    let (data, _) = try await session.data(for: URLRequest(url: notesURL))
    // 7. The server has returned the resource.
    return String(decoding: data, as: UTF8.self)
}
