import AccessTokenOAuth
import Foundation

/// A JSON Web Token that the client signs (RFC 7519), made anew for each request.
nonisolated struct SignedAssertion: Sendable {
    let keyID: String
    /// Signs by ES256, and returns the 64 bytes of the signature.
    ///
    /// With CryptoKit or swift-crypto:
    /// `try P256.Signing.PrivateKey(pemRepresentation: pem).signature(for: $0).rawRepresentation`.
    let sign: @Sendable (Data) async throws -> Data

    func token(from issuer: String, about subject: String, to audience: String) async throws -> String {
        let now = Int(Date.now.timeIntervalSince1970)
        let header = ["alg": "ES256", "typ": "JWT", "kid": keyID]
        let claims: [String: Any] = [
            "iss": issuer, "sub": subject, "aud": audience, "iat": now, "exp": now + 300, "jti": UUID().uuidString,
        ]
        let parts = [
            try JSONSerialization.data(withJSONObject: header), try JSONSerialization.data(withJSONObject: claims),
        ]
        let text = parts.map(Self.base64URL).joined(separator: ".")
        return text + "." + Self.base64URL(try await sign(Data(text.utf8)))
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}

nonisolated enum MadeSecrets {
    /// Sign in with Apple: the secret is a token that your team's key signs.
    static func apple(teamID: String, clientID: String, _ assertion: SignedAssertion) -> ClientAuthentication {
        .postBody(clientID: clientID) {
            try await assertion.token(from: teamID, about: clientID, to: "https://appleid.apple.com")
        }
    }

    /// `private_key_jwt`, as Okta, Keycloak and Microsoft call it: issuer and subject are the client.
    static func privateKeyJWT(clientID: String, tokenURL: URL, _ assertion: SignedAssertion) -> ClientAuthentication {
        .assertion(clientID: clientID) {
            try await assertion.token(from: clientID, about: clientID, to: tokenURL.absoluteString)
        }
    }

    /// One endpoint for the login, the renewals and the sign-out.
    static func session(_ authentication: ClientAuthentication, at issuer: URL) async throws -> OAuthLoader {
        let server = try await AuthorizationServer.discover(issuer)
        return OAuthLoader(endpoint: try server.tokenEndpoint(authentication), store: MemoryCredentialStore())
    }
}
