import AccessTokenCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a session has to do next for a request.
enum BearerAction: Sendable {
    /// Ask the service for a token, and say `tokenRetrieved`.
    case retrieveToken
    /// Send this as it is, and say `replied`.
    case send(URLRequest, HTTPUpload)
    /// Tell the service that this token was rejected, and say `invalidated`.
    case invalidate(AccessToken)
    /// Give the reply to the caller, and nothing more.
    case finish(HTTPReply)
    /// Give the error to the caller, and nothing more.
    case fail(any Error)
}
