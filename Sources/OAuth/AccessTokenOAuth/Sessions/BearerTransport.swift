import AccessTokenCore
import AccessTokenSynchronization
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with a token to a session's origins, and says what follows from a reply; both kinds of session share
/// it.
final class BearerTransport: Sendable {
    /// What came of one sending of a request.
    struct Attempt: Sendable {
        enum Step: Sendable {
            /// The caller gets the outcome.
            case answer
            /// The token was rejected, or its key is lost, and the request can be sent again with the next one.
            case sendAgain
            /// The token was rejected, and the body, a stream, is used up.
            case invalidate
        }

        let outcome: HTTPExchange.Outcome
        let next: Step
    }

    private static let mostRedirects = 20

    private let origins: Set<WebOrigin>
    private let allowsInsecureHTTP: Bool
    /// An `Authorization` field in the session's configuration would replace the token, and a `DPoP` field the proof.
    private let hasOwnAuthorization: Bool
    let connections: HTTPConnections
    private let bodyLimit: Int
    private let rejections: RejectionSettings
    private let proofs: TokenProofs?
    private let challengeHandler: URLAuthenticationChallengeHandler?
    private let history = Locked(RejectionHistory())

    init(
        origins: [URL],
        allowsInsecureHTTP: Bool,
        configuration: URLSessionConfiguration,
        bodyLimit: Int,
        rejections: RejectionSettings = RejectionSettings(),
        proofs: TokenProofs? = nil,
        challengeHandler: URLAuthenticationChallengeHandler? = nil
    ) {
        self.origins = Set(origins.compactMap { WebOrigin(of: $0, ignoringUser: true) })
        self.allowsInsecureHTTP = allowsInsecureHTTP
        hasOwnAuthorization = (configuration.httpAdditionalHeaders ?? [:]).keys.contains { name in
            let name = (name as? String)?.lowercased()
            return name == "authorization" || (proofs != nil && name == Proof.field.lowercased())
        }
        self.proofs = proofs
        self.challengeHandler = challengeHandler
        connections = HTTPConnections(configuration)
        self.bodyLimit = max(0, bodyLimit)
        self.rejections = rejections
    }

    /// Why a request must not be sent with a token; `nil` if it may.
    func refusal(of request: URLRequest) -> BearerSessionError? {
        guard !hasOwnAuthorization, request.value(forHTTPHeaderField: "Authorization") == nil, let url = request.url,
            url.user == nil, proofs == nil || request.value(forHTTPHeaderField: Proof.field) == nil
        else { return .authorizationAlreadySet }
        guard let origin = WebOrigin(of: url), origins.contains(origin) else {
            return .originNotAllowed(WebOrigin(of: url)?.description ?? "\(url.scheme ?? "no scheme"):")
        }
        guard allowsInsecureHTTP || origin.isProtected else { return .insecureOrigin("\(origin)") }
        return nil
    }

    /// What comes of a token for which there is no proof.
    ///
    /// If its key is lost, the token is of no use, and the next one may be bound to another key: that of a later login.
    func attempt(failedBy error: any Error) -> Attempt {
        let failure = HTTPFailure(cause: error, response: nil, hasSentBody: false)
        return Attempt(outcome: .failure(failure), next: OAuthError.proofKeyLost ~= error ? .sendAgain : .answer)
    }

    /// Sends a request, and follows redirects that stay within its origin; the handler is called once, on any thread.
    ///
    /// - Parameter prover: makes the proofs of the key that the token is bound to; `nil` for a Bearer token.
    func send(
        _ request: URLRequest,
        with token: AccessToken,
        by prover: Prover? = nil,
        until cancellation: Latch,
        then handler: @escaping @Sendable (Attempt) -> Void
    ) {
        exchange(request, with: token, by: prover, until: cancellation, redirects: 0) { outcome in
            handler(Attempt(outcome: outcome, next: self.step(after: outcome, to: request, with: token)))
        }
    }

    private func exchange(
        _ request: URLRequest,
        with token: AccessToken,
        by prover: Prover?,
        until cancellation: Latch,
        redirects: Int,
        then handler: @escaping @Sendable (HTTPExchange.Outcome) -> Void
    ) {
        // Visible ASCII. URLRequest ignores any other value without a word, and sends the one that was there before.
        guard !token.value.isEmpty, token.value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            let cause = BearerSessionError.unsendableToken
            return handler(.failure(HTTPFailure(cause: cause, response: nil, hasSentBody: false)))
        }
        guard let prover, let url = request.url else {
            return send(request, with: token, by: nil, until: cancellation, redirects: redirects, then: handler)
        }
        let task = Task {
            do {
                let prover = try await prover.inTurn(at: url, by: proofClock)
                send(request, with: token, by: prover, until: cancellation, redirects: redirects, then: handler)
            } catch {
                handler(.failure(HTTPFailure(cause: URLError(.cancelled), response: nil, hasSentBody: false)))
            }
        }
        cancellation.whenFired { task.cancel() }
    }

    /// Sends a request whose turn it is.
    private func send(
        _ request: URLRequest,
        with token: AccessToken,
        by prover: Prover?,
        until cancellation: Latch,
        redirects: Int,
        then handler: @escaping @Sendable (HTTPExchange.Outcome) -> Void
    ) {
        let attempt = Locked<Prover.Attempt?>(nil)
        let exchange = HTTPExchange(request, bodyLimit: bodyLimit, challengeHandler: challengeHandler) { signed in
            let made = try self.sign(&signed, with: token, by: prover)
            attempt.withLock { $0 = made }
        } then: { outcome in
            let attempt = attempt.withLock { $0 }
            if attempt == nil { prover?.leave() }
            if let attempt, let next = self.prover(after: outcome, to: request, attempt) {
                return self.exchange(
                    request,
                    with: token,
                    by: next,
                    until: cancellation,
                    redirects: redirects,
                    then: handler
                )
            }
            guard redirects < Self.mostRedirects, let next = Self.redirect(of: request, by: outcome) else {
                return handler(outcome)
            }
            let hop = redirects + 1
            self.exchange(next, with: token, by: prover?.anew, until: cancellation, redirects: hop, then: handler)
        }
        // In this order: what is cancelled before it starts is not sent.
        cancellation.whenFired { exchange.abandon() }
        exchange.start(over: connections)
    }

    /// Puts the token into a request, and a proof beside it if the token is bound to a key.
    private func sign(
        _ request: inout URLRequest,
        with token: AccessToken,
        by prover: Prover?
    ) throws -> Prover.Attempt? {
        guard let prover, let url = request.url else {
            request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
            return nil
        }
        let attempt = try prover.attempt(for: request.httpMethod ?? "GET", url, token: token.value, at: proofClock.now)
        request.setValue("\(Proof.field) \(token.value)", forHTTPHeaderField: "Authorization")
        request.setValue(attempt.proof, forHTTPHeaderField: Proof.field)
        return attempt
    }

    /// That of the endpoint, which has made the key's other proofs.
    private var proofClock: any AccessTokenClock { proofs?.clock ?? rejections.clock }

    /// What makes the proof with which to send the request again; a body from a stream is used up.
    private func prover(
        after outcome: HTTPExchange.Outcome,
        to request: URLRequest,
        _ attempt: Prover.Attempt
    ) -> Prover? {
        // The system itself may have sent the proof twice; a request that changes something may have been carried out.
        let isSafe = ["GET", "HEAD"].contains(request.httpMethod ?? "GET")
        return attempt.next(
            after: outcome.reply?.aboutProof(at: proofClock.now),
            mayRepeat: isSafe,
            isLast: request.httpBodyStream != nil
        )
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

    private func step(
        after outcome: HTTPExchange.Outcome,
        to request: URLRequest,
        with token: AccessToken
    ) -> Attempt.Step {
        guard let reply = outcome.reply, let url = request.url, let origin = WebOrigin(of: url) else { return .answer }
        let place = RejectionHistory.Place(
            origin: origin,
            methodAndPath: "\(request.httpMethod ?? "GET") \(url.path)"
        )
        let isStream = request.httpBodyStream != nil
        // The server has looked at the proof, and not at the token.
        guard reply.aboutProof(at: proofClock.now).refusal == nil else { return .answer }
        guard !reply.tokenIsInsufficient, rejections.isRejected(reply) else {
            // A server that is busy or fails has not looked at the token.
            if reply.status < 500, reply.status != 429 {
                history.withLock { $0.accepted(token.value, at: place, isStream: isStream) }
            }
            return .answer
        }
        let now = rejections.clock.now
        switch history.withLock({ $0.rejected(token.value, at: place, now) }) {
        case .renew: return isStream ? .invalidate : .sendAgain
        case .answer: return .answer
        case .pause:
            rejections.onPause?(
                RenewalPause(origin: "\(origin)", status: reply.status, seconds: RejectionHistory.pause)
            )
            return .answer
        }
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
    fileprivate var response: HTTPURLResponse? { reply?.response }

    /// A reply whose body is too long has at least a head.
    fileprivate var reply: BearerReply? {
        switch self {
        case .success(let reply): BearerReply(reply.response, body: reply.body)
        case .failure(let failure): failure.response.map { BearerReply($0) }
        }
    }
}
