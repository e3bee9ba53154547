import AccessTokenCore
import AccessTokenOAuth
import Foundation

@testable import AccessTokenOAuth
@testable import LoopbackAuthorizationServer
@testable import TokenTour

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the token endpoint says, good or bad, as it is on the wire.
struct WireReply: Decodable {
    let access_token: String?
    let token_type: String?
    let expires_in: Int?
    let refresh_token: String?
    let error: String?
}

extension RotatingAuthorizationServer {
    /// Exchanges a refresh token, as a client would.
    func exchange(_ refreshToken: String) async throws -> (status: Int, reply: WireReply) {
        var request = URLRequest(url: tokenEndpoint)
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        let form = FormEncoding.body([
            FormParameter("grant_type", "refresh_token"), FormParameter("refresh_token", refreshToken),
            FormParameter("client_id", Self.clientID),
        ])
        request.httpBody = Data(form.utf8)
        let reply = try await send(request)
        return (reply.status, try JSONDecoder().decode(WireReply.self, from: reply.body))
    }

    /// The status of the resource for this token.
    func status(for accessToken: String) async throws -> Int {
        try await ResourceClient(resource: resource).request(with: AccessToken(value: accessToken)).status
    }

    private func send(_ request: URLRequest) async throws -> EndpointReply {
        try await withCheckedThrowingContinuation { continuation in
            EndpointReply.reply(to: request, idleLimit: 60) { continuation.resume(with: $0) }
        }
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
