import AccessTokenCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with a token to a session's origins; both kinds of session share it.
struct BearerTransport: Sendable {
    private static let mostRedirects = 20

    private let origins: Set<WebOrigin>
    private let allowsInsecureHTTP: Bool
    /// An `Authorization` field in the session's configuration would replace the token.
    private let hasOwnAuthorization: Bool
    private let connections: HTTPConnections
    private let bodyLimit: Int

    init(origins: [URL], allowsInsecureHTTP: Bool, configuration: URLSessionConfiguration, bodyLimit: Int) {
        self.origins = Set(origins.compactMap { WebOrigin(of: $0, ignoringUser: true) })
        self.allowsInsecureHTTP = allowsInsecureHTTP
        hasOwnAuthorization = (configuration.httpAdditionalHeaders ?? [:]).keys.contains { name in
            (name as? String)?.lowercased() == "authorization"
        }
        connections = HTTPConnections(configuration)
        self.bodyLimit = max(0, bodyLimit)
    }

    /// Why a request must not be sent with a token; `nil` if it may.
    func refusal(of request: URLRequest) -> BearerSessionError? {
        guard !hasOwnAuthorization, request.value(forHTTPHeaderField: "Authorization") == nil, let url = request.url,
            url.user == nil
        else { return .authorizationAlreadySet }
        guard let origin = WebOrigin(of: url), origins.contains(origin) else {
            return .originNotAllowed(WebOrigin(of: url)?.description ?? "\(url.scheme ?? "no scheme"):")
        }
        guard allowsInsecureHTTP || origin.isProtected else { return .insecureOrigin("\(origin)") }
        return nil
    }

    /// Sends a request, and follows redirects that stay within its origin; the handler is called once, on any thread.
    func send(
        _ request: URLRequest,
        with token: AccessToken,
        until cancellation: Latch,
        redirects: Int = 0,
        then handler: @escaping @Sendable (HTTPExchange.Outcome) -> Void
    ) {
        // Visible ASCII. URLRequest ignores any other value without a word, and sends the one that was there before.
        guard !token.value.isEmpty, token.value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            let cause = BearerSessionError.unsendableToken
            return handler(.failure(HTTPFailure(cause: cause, response: nil, hasSentBody: false)))
        }
        var signed = request
        signed.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
        let exchange = HTTPExchange(signed, bodyLimit: bodyLimit) { outcome in
            guard redirects < Self.mostRedirects, let next = Self.redirect(of: request, by: outcome) else {
                return handler(outcome)
            }
            send(next, with: token, until: cancellation, redirects: redirects + 1, then: handler)
        }
        exchange.start(over: connections)
        cancellation.whenFired { exchange.abandon() }
    }

    /// The request that follows a redirect (RFC 9110, section 15.4); `nil` if the outcome is none, or leads elsewhere.
    private static func redirect(of request: URLRequest, by outcome: HTTPExchange.Outcome) -> URLRequest? {
        guard let response = outcome.response, [301, 302, 303, 307, 308].contains(response.statusCode),
            ["GET", "HEAD"].contains(request.httpMethod ?? "GET"), let url = request.url,
            let location = response.value(forHTTPHeaderField: "Location"),
            let target = URL(string: location, relativeTo: url)?.absoluteURL, let origin = WebOrigin(of: target),
            origin == WebOrigin(of: url)
        else { return nil }
        var next = request
        next.url = target
        return next
    }

    /// Whether the server rejects the token, and the request can be sent again.
    func isRejection(_ outcome: HTTPExchange.Outcome, of request: URLRequest) -> Bool {
        outcome.response?.statusCode == 401 && request.httpBodyStream == nil
    }

    /// Whether the server rejects the token, and the request cannot be sent again: a stream is used up by being sent.
    func isFinalRejection(_ outcome: HTTPExchange.Outcome, of request: URLRequest) -> Bool {
        outcome.response?.statusCode == 401 && request.httpBodyStream != nil
    }

    /// What the caller gets.
    func answer(for outcome: HTTPExchange.Outcome) -> Result<(Data, URLResponse), any Error> {
        outcome.map { ($0.body, $0.response) }
            .mapError { failure in
                let isTooLong = failure.cause is HTTPBodyTooLong
                return isTooLong ? BearerSessionError.bodyTooLong(limit: bodyLimit) : failure.cause
            }
    }

    /// The origins as text.
    var description: String { origins.map(\.description).sorted().joined(separator: ", ") }
}

extension HTTPExchange.Outcome {
    fileprivate var response: HTTPURLResponse? {
        switch self {
        case .success(let reply): reply.response
        case .failure(let failure): failure.response
        }
    }
}
