import AccessTokenOAuth
import Foundation

/// In an app: `show` opens a window of the system, and returns the URL that the window was sent to at the end.
func logInFromApp(at issuer: URL, show: (URL) async throws -> URL) async throws -> Credential {
    let server = try await AuthorizationServer.discover(issuer)
    let endpoint = try server.tokenEndpoint(.none(clientID: "app"))
    let login = try AuthorizationCodeLogin(
        at: server,
        clientID: "app",
        redirectURI: "com.example.app:/callback",
        scope: "notes"
    )
    let grant = try login.grant(from: try await show(login.url))
    return Credential(try await endpoint.exchange(grant))
}

/// In a terminal, on a machine with a browser.
func logInFromTerminal(
    at issuer: URL,
    say: (String) -> Void,
    open: @Sendable (URL) -> Void = LoopbackLogin.openBrowser
) async throws -> Credential {
    let server = try await AuthorizationServer.discover(issuer)
    let endpoint = try server.tokenEndpoint(.none(clientID: "tool"))
    let login = try LoopbackLogin(at: server, clientID: "tool", scope: "notes")
    say("Your browser opens. If it does not, open this address:\n\(login.url.absoluteString)")
    return Credential(try await endpoint.exchange(try await login.grant(open: open)))
}

/// On a television, or on a machine that is reached by SSH.
func logInFromTelevision(at issuer: URL, show: (DeviceLogin) -> Void) async throws -> Credential {
    let server = try await AuthorizationServer.discover(issuer)
    let endpoint = try server.tokenEndpoint(.none(clientID: "television"))
    let login = try await DeviceLogin(at: server, with: endpoint, scope: "notes")
    show(login)  // `userCode` and `verificationURL`; `completeVerificationURL` as a QR code.
    return Credential(try await login.response())
}

/// A login whose server gives no refresh token ends with its first access token.
func credential(for grant: TokenGrant, at endpoint: TokenEndpoint, log: (String) -> Void) async throws -> Credential {
    let response = try await endpoint.exchange(grant)
    if response.refreshToken == nil { log("The server gave no refresh token. Ask for the scope offline_access.") }
    return Credential(response)
}

func pushedLogin(at issuer: URL, with authentication: ClientAuthentication) async throws -> AuthorizationCodeLogin {
    let server = try await AuthorizationServer.discover(issuer)
    return try await AuthorizationCodeLogin(
        at: server,
        with: try server.tokenEndpoint(authentication),
        redirectURI: "com.example.app:/callback",
        scope: "notes"
    )
}
