import AccessTokenAsync
import AccessTokenGCD
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads tokens by the `refresh_token` grant; a loader for both worlds.
///
/// It does not make sure that only one load runs at a time: that is what a service is for, and the
/// naive ones are to meet the server with the same loader as the others.
final class TokenExchange: Sendable {
    private struct Grant {
        var refreshToken: String?
        /// Changes at sign-in and sign-out, so that a late reply does not bring a past session back.
        var epoch = 0
    }

    private let tokenEndpoint: URL
    private let clientID: String
    private let grant = Locked(Grant())

    init(tokenEndpoint: URL, clientID: String) {
        self.tokenEndpoint = tokenEndpoint
        self.clientID = clientID
    }

    func signIn(refreshToken: String) {
        replaceGrant(with: refreshToken)
    }

    private func replaceGrant(with refreshToken: String?) {
        grant.withLock { grant in
            grant = Grant(refreshToken: refreshToken, epoch: grant.epoch + 1)
        }
    }

    private func request(for refreshToken: String) -> URLRequest {
        var request = URLRequest(url: tokenEndpoint)
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.httpBody = FormBody.encoded([
            "grant_type": "refresh_token", "refresh_token": refreshToken, "client_id": clientID,
        ])
        return request
    }

    /// What the reply brings; the rotated refresh token is kept before anyone sees the access token.
    private func settle(_ reply: HTTPReply, sent: String, epoch: Int) -> Result<AccessToken, any Error> {
        guard let content = try? JSONDecoder().decode(TokenReply.self, from: reply.body) else {
            return .failure(TokenEndpointError.malformed(status: reply.status))
        }
        if let code = content.error {
            if code == "invalid_grant" {
                forget(sent, epoch: epoch)
            }
            return .failure(TokenEndpointError.refused(code))
        }
        guard reply.status == 200 else { return .failure(TokenEndpointError.malformed(status: reply.status)) }
        if let rotated = content.refreshToken {
            keep(rotated, epoch: epoch)
        }
        guard let value = content.bearerToken else {
            return .failure(TokenEndpointError.malformed(status: reply.status))
        }
        return .success(AccessToken(value: value, expiration: content.lifetime.map { Date(timeIntervalSinceNow: $0) }))
    }

    private func keep(_ rotated: String, epoch: Int) {
        grant.withLock { grant in
            if grant.epoch == epoch {
                grant.refreshToken = rotated
            }
        }
    }

    /// Never send a refused token again; but a token that is not the one sent is not ours to drop.
    private func forget(_ sent: String, epoch: Int) {
        grant.withLock { grant in
            if grant.epoch == epoch && grant.refreshToken == sent {
                grant.refreshToken = nil
            }
        }
    }
}

extension TokenExchange: AccessTokenLoader {
    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        let grant = grant.withLock { $0 }
        guard let sent = grant.refreshToken else {
            handler(.failure(AccessTokenError.signedOut))
            return
        }
        HTTPExchange.send(request(for: sent)) { [self] result in
            handler(result.flatMap { reply in settle(reply, sent: sent, epoch: grant.epoch) })
        }
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        replaceGrant(with: nil)
        done()
    }
}

extension TokenExchange: AsyncAccessTokenLoader {
    func load(replacing old: AccessToken?) async throws -> AccessToken {
        try await withCheckedThrowingContinuation { continuation in
            load(replacing: old) { continuation.resume(with: $0) }
        }
    }

    func signOut() async {
        replaceGrant(with: nil)
    }
}
