import Foundation
import LoopbackAuthorizationServer
import TestKeys
import TestSupport
import Testing

@testable import AccessTokenOAuth

extension RotatingAuthorizationServer {
    /// The token endpoint of the public client, with keys of this machine.
    func boundEndpoint(_ keys: ProofKeys = .ofThisMachine, clock: any AccessTokenClock = SystemClock()) -> TokenEndpoint
    {
        var endpoint = TokenEndpoint(
            tokenEndpoint,
            authentication: .none(clientID: Self.clientID),
            revocationURL: revocationEndpoint,
            deadline: TokenEndpoint.deadline(by: nil),
            clock: clock
        )
        endpoint.proofKeys = keys
        return endpoint
    }

    /// A login by a user who agrees at once.
    func logIn(_ endpoint: TokenEndpoint, namesKey: Bool = true) async throws -> Credential {
        let server = AuthorizationServer(
            issuer: issuer,
            authorizationURL: authorizationEndpoint,
            tokenURL: tokenEndpoint,
            sendsIssuer: true
        )
        let login = try AuthorizationCodeLogin(
            at: server,
            clientID: Self.clientID,
            redirectURI: "http://127.0.0.1:1/callback",
            proofKeys: namesKey ? endpoint.proofKeys : nil
        )
        let answer = try #require(redirect(for: login.url, user: "alice"))
        return Credential(try await endpoint.exchange(try login.grant(from: answer)))
    }
}

/// Runs a test against a server that asks for proofs, which is stopped in the end.
func withBoundServer<Result>(
    _ demand: ProofDemand = ProofDemand(nonceUses: 0),
    lifetime: Int = 3600,
    _ body: (RotatingAuthorizationServer) async throws -> Result
) async throws -> Result {
    let server = try RotatingAuthorizationServer(lifetime: lifetime, deviceInterval: 0, proofs: demand)
    defer { server.stop() }
    return try await body(server)
}

extension ReceivedRequest {
    /// The claims of the request's proof.
    var proof: [String: Any]? {
        guard let part = fields["dpop"]?.split(separator: ".").dropFirst().first else { return nil }
        let usual = part.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - usual.count % 4) % 4)
        return Data(base64Encoded: usual + padding)
            .flatMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] }
    }

    var nonce: String? { proof?["nonce"] as? String }
}
