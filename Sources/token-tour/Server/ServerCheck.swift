import AccessTokenOAuth

/// One caller alone, before a crowd is let loose on a server that is somebody's own: what is wrong with the options is
/// said once, and clearly.
struct ServerCheck: Sendable {
    let options: ServerOptions
    let held: HeldCredential

    /// - Throws: ``ServerError``.
    func run() async throws {
        let loader = RetryingLoader(OAuthLoader(endpoint: options.endpoint, store: held), retries: 1)
        let token: AccessToken
        do {
            token = try await loader.load(replacing: nil)
        } catch let error as OAuthError {
            throw ServerError.noToken(error)
        }
        let reply: EndpointReply
        do {
            reply = try await ResourceClient(resource: options.resource).request(with: token)
        } catch let error as ResourceError {
            throw ServerError.noResource(error)
        }
        guard (200..<300).contains(reply.status) else { throw ServerError.notServed(status: reply.status) }
    }
}
