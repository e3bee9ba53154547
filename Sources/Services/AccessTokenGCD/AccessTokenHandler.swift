public import AccessTokenCore

/// What a caller passes to be told the token, or why there is none.
public typealias AccessTokenHandler = @Sendable (Result<AccessToken, any Error>) -> Void
