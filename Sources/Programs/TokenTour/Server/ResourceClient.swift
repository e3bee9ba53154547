import AccessTokenGCD
import AccessTokenOAuth
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Requests the resource with an access token (RFC 6750, section 2.1).
struct ResourceClient: Sendable {
    /// Seconds without a byte after which a request fails.
    private static let idleLimit = 30.0

    let resource: URL

    func request(
        with token: AccessToken,
        then handler: @escaping @Sendable (Result<EndpointReply, ResourceError>) -> Void
    ) {
        var request = URLRequest(url: resource)
        request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
        EndpointReply.reply(to: request, idleLimit: Self.idleLimit) { result in
            handler(result.mapError { ResourceError(reason: $0) })
        }
    }

    func request(with token: AccessToken) async throws -> EndpointReply {
        try await withCheckedThrowingContinuation { continuation in
            request(with: token) { continuation.resume(with: $0) }
        }
    }
}

/// The request for the resource failed.
///
/// The texts of the token client's own errors speak of tokens.
struct ResourceError: Error, Hashable, CustomStringConvertible {
    let reason: OAuthError

    var description: String {
        switch reason {
        case .timedOut: "the resource did not reply"
        case .bodyTooLong: "the resource's reply is longer than a megabyte"
        case _ where reason.mayHaveBeenCarriedOut: "the connection to the resource was lost"
        default: "no connection to the resource"
        }
    }
}

/// Keeps requests to this machine away from a proxy.
///
/// On Linux `URLSession` sends even those through the proxy that the environment names, and takes exemptions from the
/// environment only.
enum ProxyExemption {
    private static let loopback = "127.0.0.1,localhost,::1"

    /// Call it before the first thread starts: the environment is not safe to change after that.
    static func setForLoopback(environment: [String: String]) {
        let exempt = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        unsafe setenv("no_proxy", exempt.isEmpty ? loopback : "\(exempt),\(loopback)", 1)
    }
}
