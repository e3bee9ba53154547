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
        // The request would carry its secrets to wherever the reply points, and on Linux leave its body behind. The
        // redirect itself becomes the reply.
        completionHandler(nil)
        // Afterwards, since a caller that has left closes the connection now.
        take(response, of: task)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        let passwordMethods = [
            NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodDefault,
        ]
        guard space.isProxy() || !passwordMethods.contains(space.authenticationMethod) else {
            // RFC 6749's own answer to a wrong secret is a 401 with such a challenge. URLSession on Linux waits for
            // ever for an answer, and on Apple platforms asks the keychain for a password of the user's.
            return completionHandler(.rejectProtectionSpace, nil)
        }
        // Whether to trust a server's certificate is for the system to decide, or for the app. So is the password of a
        // proxy, which the system's settings may have.
        guard let challengeHandler else { return completionHandler(.performDefaultHandling, nil) }
        let (disposition, credential) = challengeHandler(challenge)
        completionHandler(disposition, credential)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        noteSentBody()
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
        take(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if task.countOfBytesSent > 0 { noteSentBody() }
        if let response = task.response { take(response, of: task) }
        complete(error)
    }
}
