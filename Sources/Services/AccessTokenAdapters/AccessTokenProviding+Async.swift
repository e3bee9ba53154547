public import AccessTokenAsync
public import AccessTokenGCD

extension AccessTokenProviding {
    /// A valid token, as ``AccessTokenProviding/retrieveToken(then:)`` provides it; see ``AsyncServiceAdapter``.
    ///
    /// It is what the compiler points to where async code still passes a handler.
    public nonisolated(nonsending) func token() async throws -> AccessToken {
        try await AsyncServiceAdapter(of: self).token()
    }
}
