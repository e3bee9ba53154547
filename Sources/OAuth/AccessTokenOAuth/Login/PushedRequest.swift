import Foundation

/// An authorization request that was sent to the server before the browser opens (RFC 9126).
///
/// What is asked for does not pass through the browser, and a client with a secret has proved who it is.
enum PushedRequest {
    /// Sends the parameters of a request, and returns the `request_uri` that stands for them.
    ///
    /// The client proves itself as at the token endpoint (RFC 9126, section 2), and that it has the key that the
    /// request names, which some servers insist on (RFC 9449, section 10.1).
    static func send(
        _ parameters: [FormParameter],
        provedBy key: ProofKey?,
        to url: URL,
        with endpoint: TokenEndpoint
    ) async throws -> String {
        // The proof names the client itself.
        let parameters = parameters.filter { $0.name != "client_id" || !endpoint.authentication.isNamedInBody }
        let exchange = OutstandingExchange<Result<String, LoginError>>()
        try await endpoint.send(parameters, to: url, provedBy: key, limit: endpoint.deadline) { result, secrets in
            let reader = TokenReplyReader(secrets: secrets, isProved: key != nil)
            exchange.settle(result.mapError { .failed(.pushEndpoint, $0) }.flatMap { read($0, by: reader) })
        }
        guard let reply = await exchange.reply(within: endpoint.deadline, by: endpoint.clock) else {
            throw LoginError.failed(.pushEndpoint, .timedOut)
        }
        return try reply.get()
    }

    /// RFC 9126, sections 2.2 and 2.3.
    private static func read(_ reply: TokenEndpointReply, by reader: TokenReplyReader) -> Result<String, LoginError> {
        let isSuccess = (200...299).contains(reply.status)
        if isSuccess, case .text(let uri) = JSONMembers(reading: reply.body)?["request_uri"], !uri.isEmpty {
            return .success(uri)
        }
        if let error = reader.read(reply).error, error.code != nil || !isSuccess {
            return .failure(.failed(.pushEndpoint, error))
        }
        return .failure(.strangeReply(.pushEndpoint, status: reply.status, "it has no request_uri"))
    }
}
