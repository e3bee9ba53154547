import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer

extension ScriptedServer {
    /// The server as the token endpoint of a public client, and where tokens are revoked.
    func endpoint(
        clock: any AccessTokenClock = SystemTaskClock(),
        authentication: ClientAuthentication = .none(clientID: "app")
    ) throws -> TokenEndpoint {
        TokenEndpoint(
            try url,
            authentication: authentication,
            revocationURL: try url.deletingLastPathComponent().appending(path: "revoke"),
            clock: clock
        )
    }
}

extension RotatingAuthorizationServer {
    /// The server as the token endpoint of its public client.
    var endpoint: TokenEndpoint {
        TokenEndpoint(tokenEndpoint, authentication: .none(clientID: Self.clientID))
    }
}

/// A body that hands out these tokens.
func tokens(_ access: String, _ refresh: String? = nil, lifetime: Int = 3600) -> String {
    let rotated = refresh.map { #","refresh_token":"\#($0)""# } ?? ""
    return #"{"access_token":"\#(access)","token_type":"Bearer","expires_in":\#(lifetime)\#(rotated)}"#
}
