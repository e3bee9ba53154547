import AccessTokenSynchronization
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TokenEndpoint {
    /// Seconds below which a request is not sent any more: nobody would wait for the reply.
    private static let shortestRest: TimeInterval = 1

    /// The part of the deadline that a request waits at most for others, at a server that takes each nonce once.
    private static let longestTurn = 0.5

    /// The key that a credential's tokens are bound to; `nil` if they are bound to none.
    ///
    /// The credential decides, and no setting: a bound refresh token that is sent without a proof may be spent by the
    /// refusal, and what was issued without a proof stays as it is until the next login.
    func key(of credential: Credential?) throws -> ProofKey? {
        guard let stored = credential?.proofKey else { return nil }
        guard let proofKeys else { throw OAuthError.noProofKeys }
        return try proofKeys.key(from: stored)
    }

    /// Sends a form with the client's own authentication to an endpoint of the server, and with a proof of the key if
    /// there is one; `secrets` are what no error may show.
    ///
    /// - Parameter began: from when on the limit counts; `nil` if it does when all that the request needs is made.
    func send(
        _ parameters: [FormParameter],
        to url: URL,
        provedBy key: ProofKey? = nil,
        limit: TimeInterval,
        since began: Date? = nil,
        then handler: @escaping @Sendable (Result<TokenEndpointReply, OAuthError>, _ secrets: [String]) -> Void
    ) async throws {
        if !allowsInsecureHTTP, let refusal = Self.refusal(of: url) { throw refusal }
        let prover = key.map { Prover(key: $0, memory: proofMemory) }
        let form = { @Sendable in ClientForm(parameters, try await authentication.proof(deadline, clock)) }
        try await send(form, to: url, by: prover, limit: limit, since: began, then: handler)
    }

    /// `nil` if no machine on the way can read what is sent.
    private static func refusal(of url: URL) -> OAuthError? {
        guard WebOrigin(of: url)?.isProtected != true else { return nil }
        guard url.user == nil else { return .userInEndpoint }
        let isHTTPS = url.scheme?.lowercased() == "https"
        return isHTTPS ? .unreachable(code: URLError.Code.badURL.rawValue) : .insecureEndpoint
    }

    /// Sends a request, with a proof if there is a prover; and again if the server wants another proof.
    ///
    /// To everybody else all are one request: those that follow get what is left of the first one's time, and so does
    /// one that waits for its turn. After that, another process may send the same refresh token.
    ///
    /// - Parameters:
    ///   - form: is asked for each request: an assertion of the client is good for once as well.
    ///   - began: from when on the limit counts; `nil` if it does when the first form is made.
    private func send(
        _ form: @escaping @Sendable () async throws -> ClientForm,
        to url: URL,
        by prover: Prover?,
        limit: TimeInterval,
        since began: Date?,
        then handler: @escaping @Sendable (Result<TokenEndpointReply, OAuthError>, _ secrets: [String]) -> Void
    ) async throws {
        let made = try await form()
        let since = began ?? clock.now
        let prover = try await prover?.inTurn(at: url, atMost: deadline * Self.longestTurn, by: clock)
        let now = clock.now
        let left = limit - abs(now.timeIntervalSince(since))
        guard began == nil || left >= min(Self.shortestRest, limit / 2) else {
            throw OAuthError.timedOut(waitingFor: "what the request needs, such as a client assertion or a proof")
        }
        var (request, secrets) = (made.request(to: url), made.secrets)
        let attempt = try prover?.attempt(for: "POST", url, at: now)
        if let attempt {
            request.setValue(attempt.proof, forHTTPHeaderField: Proof.field)
            secrets.append(attempt.proof)
        }
        transport.send(request, limit: left) { [secrets] result in
            guard let next = learn(from: result, of: url, to: attempt) else { return handler(result, secrets) }
            Task {
                do {
                    try await send(form, to: url, by: next, limit: limit, since: since, then: handler)
                } catch {
                    // Whatever has failed, the refusal is a true answer: nothing was carried out.
                    handler(result, secrets)
                }
            }
        }
    }

    /// Keeps what a reply says for the next proofs; returns what makes another proof for this request, if that is due.
    private func learn(
        from result: Result<TokenEndpointReply, OAuthError>,
        of url: URL,
        to attempt: Prover.Attempt?
    ) -> Prover? {
        guard case .success(let reply) = result else { return attempt?.next(after: nil) }
        let said = ProofReply(status: reply.status, body: reply.body, at: reply.received, reply.header)
        if let attempt { return attempt.next(after: said) }
        if let nonce = said.nonce { proofMemory[url].keep { $0.nonce = nonce } }
        return nil
    }
}

/// The form of one request, with what proves the client.
struct ClientForm: Sendable {
    private let parameters: [FormParameter]
    private let authorization: String?
    /// What no error may show.
    let secrets: [String]

    init(_ parameters: [FormParameter], _ client: ClientAuthentication.Proof) {
        self.parameters = parameters + client.parameters
        authorization = client.authorization
        secrets = self.parameters.filter(\.isSecret).map(\.value) + client.secrets
    }

    func request(to url: URL) -> URLRequest {
        URLRequest(url, posting: parameters, authorization: authorization)
    }
}
