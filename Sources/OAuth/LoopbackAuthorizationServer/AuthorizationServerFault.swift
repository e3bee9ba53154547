public import Foundation
import OAuthFoundation

/// What the server does with a request in place of a proper answer.
///
/// It is a struct over a private enum: a later version can add a fault without breaking a `switch`.
public struct AuthorizationServerFault: Hashable, Sendable {
    /// The requests that a fault is for.
    public enum Place: Hashable, Sendable {
        /// Requests for a token.
        case tokenEndpoint
        /// Requests for the resource.
        case resource
    }

    enum Kind: Hashable {
        /// The request is carried out, and its answer delivered so.
        case delivered(HTTPResponse.Delivery)
        /// The request is not carried out, and answered so.
        case answered(HTTPResponse)
        case unauthorized
    }

    let kind: Kind

    /// The request is carried out at once, and the reply comes so many seconds later.
    public static func slow(_ seconds: TimeInterval) -> AuthorizationServerFault {
        AuthorizationServerFault(kind: .delivered(.late(by: seconds)))
    }

    /// The request is read and not carried out, and no reply comes until the client leaves or the server stops.
    public static let silent =
        AuthorizationServerFault(kind: .answered(.empty(200, delivery: .never)))

    /// The request is carried out, and the reply ends in the middle of its body.
    public static let cut = AuthorizationServerFault(kind: .delivered(.half))

    /// The request is carried out, and the connection closes without a reply.
    public static let lost = AuthorizationServerFault(kind: .delivered(.none))

    /// The request is not carried out: 401, as for a client or a token that the server does not know.
    public static let unauthorized = AuthorizationServerFault(kind: .unauthorized)

    /// The request is not carried out: 503, perhaps with `Retry-After` in seconds.
    public static func unavailable(retryAfter: Int? = nil) -> AuthorizationServerFault {
        var response = HTTPResponse.failure(503, "temporarily_unavailable")
        response.fields = retryAfter.map { ["Retry-After: \($0)"] } ?? []
        return AuthorizationServerFault(kind: .answered(response))
    }
}
