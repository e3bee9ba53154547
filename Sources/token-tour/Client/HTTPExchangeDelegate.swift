import AccessTokenGCD
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Collects one reply: follows no redirect, answers no challenge, keeps no more than a megabyte.
final class HTTPExchangeDelegate: NSObject, URLSessionDataDelegate {
    private struct Reply {
        var status: Int?
        var body = Data()
        var isTooLong = false
    }

    private static let bodyLimit = 1 << 20

    private let handler: @Sendable (Result<HTTPReply, any Error>) -> Void
    private let reply = Locked(Reply())

    init(_ handler: @escaping @Sendable (Result<HTTPReply, any Error>) -> Void) {
        self.handler = handler
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // It would carry `Authorization` to wherever the reply points.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(Darwin)
        // Trust in a server's certificate is for the system to decide.
        guard challenge.protectionSpace.authenticationMethod != NSURLAuthenticationMethodServerTrust else {
            completionHandler(.performDefaultHandling, nil)
            return
        }
        #endif
        // Without an answer to its challenge a 401 hangs for ever on Linux.
        completionHandler(.rejectProtectionSpace, nil)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        reply.withLock { $0.status = (response as? HTTPURLResponse)?.statusCode }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        reply.withLock { reply in
            if reply.body.count + data.count <= Self.bodyLimit {
                reply.body += data
            } else {
                reply.isTooLong = true
            }
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        handler(result(error))
    }

    private func result(_ error: (any Error)?) -> Result<HTTPReply, any Error> {
        let reply = reply.withLock { $0 }
        guard !reply.isTooLong else { return .failure(HTTPExchangeError.bodyTooLong) }
        // A rejected challenge completes as cancelled, with status and body in hand.
        let isWhole = error == nil || (error as? URLError)?.code == .cancelled
        guard let status = reply.status, isWhole else {
            return .failure(HTTPExchangeError.connection(error?.localizedDescription ?? "no status"))
        }
        return .success(HTTPReply(status: status, body: reply.body))
    }
}
