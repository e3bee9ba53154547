import AccessTokenGCD
import AccessTokenOAuth
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests the resource with an access token (RFC 6750, section 2.1), and tells the status.
struct ResourceClient: Sendable {
    /// Seconds without a byte after which a request fails.
    private static let idleLimit = 30.0

    let resource: URL

    func request(with token: AccessToken, then handler: @escaping @Sendable (Result<Int, OAuthError>) -> Void) {
        var request = URLRequest(url: resource)
        request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
        EndpointTransport().send(request, idleLimit: Self.idleLimit) { handler($0.map(\.status)) }
    }

    func request(with token: AccessToken) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            request(with: token) { continuation.resume(with: $0) }
        }
    }
}
