import AccessTokenAsync
import AccessTokenGCD
import AccessTokenOAuth
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Gets a token, requests the resource, and tries once more after a 401.
protocol Caller: Sendable {
    /// - Parameter handler: called once, with the status of the resource's answer.
    func call(then handler: @escaping @Sendable (Result<Int, any Error>) -> Void)
}

/// A caller with callbacks.
struct CallbackCaller: Caller {
    let service: any AccessTokenProviding
    let resource: ResourceClient

    func call(then handler: @escaping @Sendable (Result<Int, any Error>) -> Void) {
        service.withToken(isRejected: { $0 == 401 }) { token, reply in
            resource.request(with: token, then: reply)
        } then: { status in
            handler(status)
        }
    }
}

/// The same caller as a task.
struct AsyncCaller: Caller {
    let service: any AsyncAccessTokenProviding
    let resource: ResourceClient

    func call(then handler: @escaping @Sendable (Result<Int, any Error>) -> Void) {
        Task {
            do {
                let status = try await service.withToken(isRejected: { $0 == 401 }) { token in
                    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int, any Error>) in
                        resource.request(with: token) { continuation.resume(with: $0) }
                    }
                }
                handler(.success(status))
            } catch {
                handler(.failure(error))
            }
        }
    }
}

/// Requests the resource with an access token (RFC 6750, section 2.1), and tells the status.
struct ResourceClient: Sendable {
    /// Seconds without a byte after which a request fails.
    private static let idleLimit = 30.0

    let resource: URL

    func request(with token: AccessToken, then handler: @escaping @Sendable (Result<Int, any Error>) -> Void) {
        var request = URLRequest(url: resource)
        request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
        EndpointTransport().send(request, idleLimit: Self.idleLimit) { reply in
            handler(reply.map(\.status).mapError { $0 })
        }
    }
}
