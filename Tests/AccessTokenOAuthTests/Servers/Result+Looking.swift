import AccessTokenOAuth

extension Result<AccessToken, any Error> {
    var error: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }

    /// Whether the caller was told so: by what the server said, or, to whoever came after that, by the empty store.
    var hasToSignIn: Bool {
        error as? AccessTokenError == .signedOut || (error as? OAuthError)?.requiresSignIn == true
    }
}
