import AccessTokenGCD
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

nonisolated enum AlamofireExample {
    final class TokenInterceptor: RequestInterceptor {
        private let tokens: any AccessTokenProviding
        private let host: String

        init(tokens: any AccessTokenProviding, host: String) {
            self.tokens = tokens
            self.host = host
        }

        func adapt(
            _ urlRequest: URLRequest,
            for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ) {
            guard urlRequest.url?.scheme == "https", urlRequest.url?.host == host else {
                return completion(.success(urlRequest))
            }
            tokens.retrieveToken { result in
                completion(
                    result.map { token in
                        var request = urlRequest
                        request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
                        return request
                    }
                )
            }
        }

        func retry(
            _ request: Request,
            for session: Session,
            dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            guard request.response?.statusCode == 401, request.retryCount == 0, request.request?.url?.host == host,
                let sent = request.request?.value(forHTTPHeaderField: "Authorization")
            else { return completion(.doNotRetry) }
            // The service compares: another request may have brought the next token meanwhile.
            tokens.invalidate(AccessToken(value: String(sent.dropFirst("Bearer ".count))))
            completion(.retry)
        }
    }
}
