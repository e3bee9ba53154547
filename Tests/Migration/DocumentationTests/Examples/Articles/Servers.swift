import AccessTokenOAuth
import Foundation

nonisolated enum Servers {
    /// A vendor of two kinds of token that are both sent as `Bearer`.
    static func types(of tokenURL: URL) -> TokenEndpoint {
        var endpoint = TokenEndpoint(tokenURL, authentication: .none(clientID: "app"))
        endpoint.tokenTypes = ["Bearer", "bot", "user"]
        return endpoint
    }

    static func tokensUnderBody(_ endpoint: inout TokenEndpoint) {
        // {"status":0,"body":{"access_token":"…","refresh_token":"…","expires_in":10800}}
        endpoint.replyMapping = { reply in
            TokenResponse(members: reply.members(of: "body"), received: reply.received)
        }
    }

    static func otherNames(_ endpoint: inout TokenEndpoint) {
        // {"token":"…","renewal":"…"}
        endpoint.replyMapping = { reply in
            var members = reply.members
            members["access_token"] = members.removeValue(forKey: "token")
            members["refresh_token"] = members.removeValue(forKey: "renewal")
            return TokenResponse(members: members, received: reply.received)
        }
    }

    static func zeroIsForEver(_ endpoint: inout TokenEndpoint) {
        endpoint.replyMapping = { reply in
            var members = reply.members
            if members["expires_in"] == "0" { members["expires_in"] = nil }
            return TokenResponse(members: members, received: reply.received)
        }
    }

    static func expiresOn(_ endpoint: inout TokenEndpoint) {
        endpoint.replyMapping = { reply in
            let time = reply.members["expires_on"].flatMap { Double($0) }
            return TokenResponse(
                members: reply.members,
                received: reply.received,
                expiration: time.map { Date(timeIntervalSince1970: $0) }
            )
        }
    }

    static func identity(_ endpoint: inout TokenEndpoint) {
        endpoint.replyMapping = { reply in
            TokenResponse(members: reply.members, received: reply.received, accessTokenIn: "id_token")
        }
    }

    static func closedSession(_ endpoint: inout TokenEndpoint) {
        endpoint.failureMapping = { reply in
            reply.status == 403 && reply.text == "session closed" ? .refused("invalid_grant") : nil
        }
    }

    static func notYet(_ endpoint: inout TokenEndpoint) {
        endpoint.deviceFailureMapping = { reply in
            reply.status == 404 ? .refused("authorization_pending") : nil
        }
    }

    static func withings(_ endpoint: inout TokenEndpoint) {
        endpoint.server = .withings
    }

    static func resource(_ endpoint: TokenEndpoint, _ store: any CredentialStore) -> OAuthLoader {
        OAuthLoader(endpoint: endpoint, store: store, parameters: ["resource": "https://api.example.com/mcp"])
    }

    static func services(
        _ endpoint: TokenEndpoint,
        _ store: any CredentialStore
    ) -> (files: AsyncAccessTokenService, mail: AsyncAccessTokenService) {
        func service(_ resource: String) -> AsyncAccessTokenService {
            let loader = OAuthLoader(endpoint: endpoint, store: store, parameters: ["resource": resource])
            return AsyncAccessTokenService(loader: RetryingLoader(loader))
        }
        return (files: service("https://files.example.com"), mail: service("https://mail.example.com"))
    }

    static func assertion(
        _ endpoint: TokenEndpoint,
        _ signed: @escaping @Sendable () async throws -> String
    ) -> OAuthLoader {
        let exchange = TokenExchange(endpoint) {
            .extensionGrant(
                "urn:ietf:params:oauth:grant-type:jwt-bearer",
                parameters: ["assertion": try await signed()]
            )
        }
        return OAuthLoader(exchange, store: MemoryCredentialStore())
    }

    static func instance(
        _ endpoint: TokenEndpoint,
        _ store: any CredentialStore,
        _ tokenURL: @escaping @Sendable (_ instance: String?) throws -> URL
    ) -> OAuthLoader {
        let exchange = TokenExchange(endpoint) { credential, endpoint in
            endpoint.url = try tokenURL(credential.otherMembers["instance_url"])
        }
        return OAuthLoader(exchange, store: store)
    }

    static func madeSecret(
        _ tokenURL: URL,
        _ signed: @escaping @Sendable () async throws -> String
    ) -> TokenEndpoint {
        TokenEndpoint(
            tokenURL,
            authentication: .postBody(clientID: "com.example.app") {
                try await signed()  // For each request: the server takes it for a short time only.
            }
        )
    }

    static func backEnd(_ client: any BackEnd, _ store: any CredentialStore) -> OAuthLoader {
        let exchange = TokenExchange { credential in
            let session = try await client.renew(credential.refreshToken)
            return TokenResponse(
                accessToken: AccessToken(value: session.token, expiration: session.expires),
                refreshToken: session.next
            )
        }
        return OAuthLoader(exchange, store: store)
    }

    /// A client of the app's own back end.
    protocol BackEnd: Sendable {
        func renew(_ refreshToken: String?) async throws -> (token: String, expires: Date, next: String)
    }
}

nonisolated enum Rejections {
    static func session(_ url: URL, _ tokens: any AsyncAccessTokenProviding, _ logger: YourLogger) -> AsyncBearerSession
    {
        AsyncBearerSession(
            tokens: tokens,
            origins: [url],
            isRejected: { $0.status == 401 || $0.status == 403 },
            onRenewalPause: { logger.info("\($0)") }
        )
    }
}
