import AccessTokenCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Collects one reply: follows no redirect, answers no challenge, reads no more than a megabyte.
final class HTTPExchangeDelegate: NSObject, URLSessionDataDelegate {
    private struct Reply {
        var head: HTTPReply?
        var isTooLong = false
    }

    private static let bodyLimit = 1 << 20

    private let handler: OneShot<Result<HTTPReply, OAuthError>>
    private let reply = Locked(Reply())

    init(_ handler: @escaping @Sendable (Result<HTTPReply, OAuthError>) -> Void) {
        // A session that drops its delegate without a word must not leave a load waiting for ever.
        self.handler = OneShot(abandoned: .failure(.connectionLost(code: URLError.Code.unknown.rawValue)), handler)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // It would carry the secrets to wherever the reply points. The redirect itself becomes the reply.
        take(response)
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        switch challenge.protectionSpace.authenticationMethod {
        case NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodDefault:
            // RFC 6749's own answer to a wrong secret is a 401 with such a challenge. Left to itself it hangs for ever
            // on Linux, and asks the keychain for somebody's password on Apple platforms.
            completionHandler(.rejectProtectionSpace, nil)
        default:
            // Whether to trust a server's certificate is for the system to decide.
            completionHandler(.performDefaultHandling, nil)
        }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        take(response)
        completionHandler(.allow)
        if response.expectedContentLength > Self.bodyLimit { stopReading(dataTask) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = reply.withLock { reply in
            guard !reply.isTooLong, let body = reply.head?.body else { return false }
            guard body.count + data.count <= Self.bodyLimit else { return true }
            reply.head?.body.append(data)
            return false
        }
        if isTooLong { stopReading(dataTask) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let response = task.response { take(response) }
        handler(result(error))
    }

    /// The one time that a task is cancelled: its connection is there, and what comes is no token response.
    private func stopReading(_ task: URLSessionTask) {
        reply.withLock { reply in
            reply.isTooLong = true
            reply.head?.body = Data()
        }
        handler(.failure(.bodyTooLong))
        // On Linux this waits until the socket is dry for a moment. In the delegate's queue it would let everything pile
        // up that comes until then; so that is dropped as it comes.
        Thread.detachNewThread { task.cancel() }
    }

    private func take(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        reply.withLock { reply in
            guard reply.head == nil else { return }
            let retryAfter = response.value(forHTTPHeaderField: "Retry-After")
            reply.head = HTTPReply(status: response.statusCode, retryAfter: retryAfter)
        }
    }

    private func result(_ error: (any Error)?) -> Result<HTTPReply, OAuthError> {
        let reply = reply.withLock { $0 }
        guard !reply.isTooLong else { return .failure(.bodyTooLong) }
        // A rejected challenge completes as cancelled, with status and body in hand; nobody else cancels.
        let code = (error as? URLError)?.code
        guard error == nil || code == .cancelled else { return .failure(Self.failure(code)) }
        guard let head = reply.head else { return .failure(Self.failure(code)) }
        return .success(head)
    }

    /// Only what cannot have reached the server counts as not sent.
    private static func failure(_ code: URLError.Code?) -> OAuthError {
        let number = (code ?? .unknown).rawValue
        switch code {
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet, .badURL, .unsupportedURL,
            .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .dataNotAllowed,
            .internationalRoamingOff, .appTransportSecurityRequiresSecureConnection:
            return .unreachable(code: number)
        case .timedOut:
            return .timedOut
        default:
            return .connectionLost(code: number)
        }
    }
}
