import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPExchange: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // It would carry the secrets to wherever the reply points, and on Linux leave the body behind. The redirect
        // itself becomes the reply.
        completionHandler(nil)
        // Not before: whoever does not want the reply cancels the task now, which must have got its answer.
        take(response, of: task)
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
        take(response, of: dataTask)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        take(data, of: dataTask)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let response = task.response { take(response, of: task) }
        complete(error)
    }
}
