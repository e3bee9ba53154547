import AccessTokenGCD
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Asks for the resource with an access token (RFC 6750, section 2.1).
struct ResourceClient: Sendable {
    let resource: URL

    func request(
        with token: AccessToken,
        then handler: @escaping @Sendable (Result<HTTPReply, any Error>) -> Void
    ) {
        HTTPExchange.send(request(with: token), then: handler)
    }

    func request(with token: AccessToken) async throws -> HTTPReply {
        try await HTTPExchange.send(request(with: token))
    }

    private func request(with token: AccessToken) -> URLRequest {
        var request = URLRequest(url: resource)
        request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
        return request
    }
}
