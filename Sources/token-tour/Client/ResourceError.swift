import AccessTokenOAuth

/// The resource brought no reply.
///
/// The connection is that of the token client, whose own texts speak of tokens.
struct ResourceError: Error, Hashable, CustomStringConvertible {
    let reason: OAuthError

    var description: String {
        switch reason {
        case .timedOut: "the resource did not reply"
        case .bodyTooLong: "the resource's reply is longer than a megabyte"
        case _ where reason.mayHaveBeenCarriedOut: "the connection to the resource was lost"
        default: "no connection to the resource"
        }
    }
}
