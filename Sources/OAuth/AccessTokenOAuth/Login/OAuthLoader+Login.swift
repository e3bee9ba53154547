import AccessTokenCore
public import AccessTokenGCD

extension OAuthLoader {
    /// Begins a session at the end of a login, for callback code; the handler is called once, on any thread.
    ///
    /// It does what ``signIn(_:to:)-(_,AccessTokenService)`` does. A failure leaves the service as it was.
    @available(*, renamed: "signIn(_:to:)")
    public func signIn(
        _ credential: Credential,
        to service: AccessTokenService,
        then handler: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        Task {
            do { handler(.success(try await signIn(credential, to: service))) } catch { handler(.failure(error)) }
        }
    }
}
