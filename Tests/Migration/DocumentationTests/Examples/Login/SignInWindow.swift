#if canImport(AuthenticationServices)
import AccessTokenOAuth
import AuthenticationServices

@MainActor
func logIn(at issuer: URL, above window: ASPresentationAnchor) async throws -> Credential {
    let server = try await AuthorizationServer.discover(issuer)
    let endpoint = try server.tokenEndpoint(.none(clientID: "app"))
    let login = try AuthorizationCodeLogin(
        at: server,
        clientID: "app",
        redirectURI: "com.example.app:/callback",
        scope: "openid notes"
    )
    let grant = try await LoginWindow(above: window).grant(for: login)
    return Credential(try await endpoint.exchange(grant))
}
#endif
