import Foundation
import LoopbackAuthorizationServer

@testable import token_tour

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension RotatingAuthorizationServer {
    /// Exchanges a refresh token, as a client would.
    func exchange(_ refreshToken: String) async throws -> (status: Int, reply: TokenReply) {
        let reply = try await post([
            "grant_type": "refresh_token", "refresh_token": refreshToken, "client_id": Self.clientID,
        ])
        return (reply.status, try JSONDecoder().decode(TokenReply.self, from: reply.body))
    }

    /// Posts these fields to the token endpoint.
    func post(_ fields: KeyValuePairs<String, String>) async throws -> HTTPReply {
        var request = URLRequest(url: tokenEndpoint)
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.httpBody = FormBody.encoded(fields)
        return try await HTTPExchange.send(request)
    }

    /// The status of the resource for this token.
    func status(for accessToken: String) async throws -> Int {
        var request = URLRequest(url: resource)
        request.setValue("Bearer \(accessToken)", forHTTPHeaderField: "Authorization")
        return try await HTTPExchange.send(request).status
    }
}

/// Runs a test against a server of its own, which is stopped in the end.
func withServer<Result>(
    latency: TimeInterval = 0,
    onEvent: @escaping @Sendable (AuthorizationServerEvent) -> Void = { _ in },
    _ body: (RotatingAuthorizationServer) async throws -> Result
) async throws -> Result {
    let server = try RotatingAuthorizationServer(latency: latency, onEvent: onEvent)
    defer { server.stop() }
    return try await body(server)
}
