import AccessTokenOAuth

/// Why there is no tour of the user's own server.
enum ServerError: Error, Hashable, CustomStringConvertible {
    case noToken(OAuthError)
    case noResource(ResourceError)
    /// The resource does not want a token that was issued a moment ago.
    case notServed(status: Int)

    var description: String {
        switch self {
        case .noToken(let error) where error.mayHaveBeenCarriedOut:
            """
            \(error) The server may have carried the request out all the same: then the refresh token is spent, and the \
            next one was in the reply that did not come.
            """
        case .noToken(let error): "\(error)"
        case .noResource(let error): "\(error). Check --resource."
        case .notServed(status: 401):
            "The resource answered 401 to an access token that was issued a moment ago. Is it a resource of this server's?"
        case .notServed(status: 403): "The resource answered 403: the access token is good, and not for this resource."
        case .notServed(status: 404): "There is nothing at the resource's URL (404)."
        case .notServed(let status) where (300..<400).contains(status):
            "The resource redirects (\(status)), which is not followed. Give the URL that it leads to."
        case .notServed(let status): "The resource answered \(status)."
        }
    }

    var status: ExitStatus {
        switch self {
        case .noToken(let error) where error.isTransient: .noServer
        case .noToken(let error) where error.code != nil: .refused
        case .noToken: .notUnderstood
        case .noResource: .noServer
        case .notServed: .notServed
        }
    }
}
