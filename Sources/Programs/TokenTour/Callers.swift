import AccessTokenAsync
import AccessTokenGCD
import AccessTokenOAuth
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Gets a token, requests the resource, and tries once more after a 401; the handler is called once.
typealias Caller = @Sendable (@escaping StatusHandler) -> Void

/// Receives the status of the resource's answer.
typealias StatusHandler = @Sendable (Result<Int, any Error>) -> Void

/// Requests the resource with an access token (RFC 6750, section 2.1).
struct ResourceClient: Sendable {
    /// Seconds without a byte after which a request fails.
    private static let idleLimit = 30.0

    let resource: URL

    func callbackCaller(of service: any AccessTokenProviding) -> Caller {
        { handler in
            service.withToken(isRejected: { $0 == 401 }) { token, reply in
                request(with: token, then: reply)
            } then: { status in
                handler(status)
            }
        }
    }

    func asyncCaller(of service: any AsyncAccessTokenProviding) -> Caller {
        { handler in
            Task {
                do {
                    let status = try await service.withToken(isRejected: { $0 == 401 }) { token in
                        try await withCheckedThrowingContinuation { continuation in
                            request(with: token) { continuation.resume(with: $0) }
                        }
                    }
                    handler(.success(status))
                } catch {
                    handler(.failure(error))
                }
            }
        }
    }

    private func request(with token: AccessToken, then handler: @escaping StatusHandler) {
        var request = URLRequest(url: resource)
        request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
        EndpointTransport().send(request, limit: Self.idleLimit) { reply in
            handler(reply.map(\.status).mapError { $0 })
        }
    }
}
