import AccessTokenOAuth
import Foundation

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension RealServer {
    /// The status of the server's own resource for this token.
    func status(for token: AccessToken) async throws -> Int {
        var request = URLRequest(url: try resource)
        request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
        return try await withCheckedThrowingContinuation { continuation in
            EndpointReply.reply(to: request, idleLimit: 60) { result in
                continuation.resume(with: result.map(\.status))
            }
        }
    }

    /// Returns when the server's own resource rejects a token that was good.
    func expiry(of token: AccessToken) async throws {
        while try await status(for: token) == 200 {}
    }
}
