import AccessTokenCore
import Foundation

/// What became of a request that brought no token, which decides what may be done with the refresh token that was sent.
enum RequestFate: Hashable, Sendable {
    /// The request was not sent, or the server has not carried it out: the refresh token is as it was.
    case notCarriedOut
    /// No reply came, and the server may have carried the request out: to send it once more is right.
    case unanswered
    /// A reply came, and the refresh token must not be sent for a while.
    case held(Hold)
    /// The server says that the refresh token is no good any more.
    case refused

    /// What an endpoint's error says.
    init(of error: OAuthError) {
        self =
            if error.endsSession {
                .refused
            } else if let hold = Hold(error) {
                .held(hold)
            } else {
                error.mayHaveBeenCarriedOut ? .unanswered : .notCarriedOut
            }
    }

    /// What an error of the app's own exchange says; <doc:Servers> has this as a table.
    init(ofThrown error: any Error) {
        self =
            switch error {
            case let error as OAuthError: RequestFate(of: error)
            case AccessTokenError.signedOut: .notCarriedOut
            case let error as URLError where Self.unsent.contains(error.code): .notCarriedOut
            // Foundation reads JSON in two ways, and each has an error of its own.
            case is DecodingError, CocoaError.propertyListReadCorrupt:
                .held(Hold(reason: .unread(what: "the app's exchange could not decode it")))
            default: .unanswered
            }
    }

    /// The connection was not made, so that nothing was sent.
    private static let unsent: Set<URLError.Code> = [
        .badURL, .unsupportedURL, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet,
        .internationalRoamingOff, .dataNotAllowed, .secureConnectionFailed, .serverCertificateHasBadDate,
        .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
        .clientCertificateRejected, .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection,
    ]
}

extension Hold {
    /// `nil` for an error after which the refresh token may be sent.
    init?(_ error: OAuthError) {
        switch error.reason {
        case .unusableToken(let what, let type): self.init(reason: .unusable(what: what, type: type.text))
        case .refused(let code, .needsUser, _): self.init(reason: .interaction(code: code))
        case .notUnderstood(_, let what) where error.sessionMayBeSpent: self.init(reason: .unread(what: what))
        case .heldBack(let what): self.init(reason: .unread(what: what))
        case .bodyTooLong: self.init(reason: .unread(what: "it is longer than a megabyte"))
        case .unreadableHead: self.init(reason: .unread(what: "its head is none that the system reads"))
        default: return nil
        }
    }

    /// For an error of a reply whose refresh token is known: that one is not spent, and the next reply would not be
    /// different.
    init?(besideRefreshToken error: any Error) {
        guard case .held(let hold) = RequestFate(ofThrown: error) else { return nil }
        if case .unread(let what) = hold.reason {
            self.init(reason: .unusable(what: what, type: nil))
        } else {
            self = hold
        }
    }

    /// What a caller is told whose load sends nothing.
    var error: OAuthError {
        switch reason {
        case .unread(let what): .heldBack(what)
        case .unusable(let what, let type): .unusableToken(what, type: type)
        case .interaction(let code): .refused(code, .needsUser)
        }
    }
}
