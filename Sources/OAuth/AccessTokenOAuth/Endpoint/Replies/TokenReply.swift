import AccessTokenCore
import Foundation

/// What an exchange came to.
struct TokenReply: Sendable {
    private(set) var result: Result<TokenResponse, any Error>
    /// A refresh token that came without a usable access token: the one that was sent is spent, so it is saved.
    var rescuedRefreshToken: String?
    /// What became of the request; `nil` if it brought a token.
    let fate: RequestFate?

    /// The key that the tokens are bound to.
    private(set) var proofKey: Data?

    var error: OAuthError? {
        if case .failure(let error as OAuthError) = result { error } else { nil }
    }

    /// The access token, or what is wrong with the one beside a refresh token.
    var accessToken: Result<AccessToken, any Error> { result.map(\.accessToken) }

    init(_ result: Result<TokenResponse, OAuthError>, rescuing refreshToken: String? = nil) {
        self.result = result.mapError { $0 }
        rescuedRefreshToken = refreshToken
        fate = if case .failure(let error) = result { RequestFate(of: error) } else { nil }
    }

    /// The same, or what is wrong with the ID token: the access token beside it is not used, and the refresh token is.
    func checking(_ idToken: IDTokenCheck?, isRead: Bool, at now: Date) -> TokenReply {
        guard let idToken, case .success(let response) = result,
            let what = idToken.complaint(about: response, isRead: isRead, at: now)
        else { return self }
        return TokenReply(.failure(.unusableToken(what)), rescuing: response.refreshToken)
    }

    /// The same from a request with a proof: whatever tokens came are bound to the key.
    func bound(to key: ProofKey?) -> TokenReply {
        guard let key else { return self }
        var reply = self
        if case .success(let response) = result {
            (reply.result, reply.proofKey) = (.success(response.bound(to: key)), key.stored)
        }
        if rescuedRefreshToken != nil { reply.proofKey = key.stored }
        return reply
    }

    /// What the app's own exchange threw.
    init(thrown error: any Error) {
        result = .failure(error)
        fate = RequestFate(ofThrown: error)
    }

    /// A response that the app's code has read: what cannot be used is no better for that.
    init(checking response: TokenResponse) {
        let refreshToken = TokenReplyMembers.something(response.refreshToken)
        guard refreshToken.map(TokenCharacters.canBeKept) ?? true else {
            self.init(.failure(.notUnderstood(status: 200, TokenCharacters.notKept)))
            return
        }
        guard TokenCharacters.canBeSent(response.accessToken) else {
            self.init(.failure(.unusableToken(TokenCharacters.notSent)), rescuing: refreshToken)
            return
        }
        self.init(.success(response.withRefreshToken(refreshToken)))
    }
}
