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

/// Why a refresh token that is in the store is not sent, and what callers are told instead.
///
/// It is a part of the note beside the refresh token, so that other processes and the next start of the app know it,
/// too.
struct Hold: Hashable, Sendable, Codable {
    enum Reason: Hashable, Sendable, Codable {
        /// The reply to it could not be read: the server may have spent it. Until the app decides.
        case unread(what: String)
        /// The reply can be read, and its access token cannot be used: the next one would not be different.
        case unusable(what: String, type: String?)
        /// The server wants to see the user.
        case interaction(code: String)
    }

    /// Seconds after which a server may have been mended.
    private static let unusablePause: TimeInterval = 300
    /// Seconds after which the user may have done somewhere else what the server wants.
    private static let interactionPause: TimeInterval = 120

    let reason: Reason
    /// The key of the loader that it concerns; a refresh token that may be spent concerns all.
    var key: String?

    init(reason: Reason) { self.reason = reason }

    /// `nil` for an error after which the refresh token may be sent.
    init?(_ error: OAuthError) {
        switch error.reason {
        case .unusableToken(let what, let type): reason = .unusable(what: what, type: type.text)
        case .refused(let code, .needsUser, _): reason = .interaction(code: code)
        case .notUnderstood(_, let what) where error.sessionMayBeSpent: reason = .unread(what: what)
        case .heldBack(let what): reason = .unread(what: what)
        case .bodyTooLong: reason = .unread(what: "it is longer than a megabyte")
        case .unreadableHead: reason = .unread(what: "its head is none that the system reads")
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

    /// Whether the refresh token may be spent.
    var isUntilDecided: Bool { if case .unread = reason { true } else { false } }

    /// Whether the refresh token may be sent, so many seconds after the last time; a wall clock may have been set back
    /// by far.
    func isOver(after seconds: TimeInterval, takesType: (String) -> Bool) -> Bool {
        switch reason {
        case .unread: false
        case .unusable(_, let type?) where takesType(type): true
        // Written so that an age that is not a number is older.
        case .unusable: !(abs(seconds) < Self.unusablePause)
        case .interaction: !(abs(seconds) < Self.interactionPause)
        }
    }
}

/// A hold, and when it began.
struct DatedHold: Hashable, Sendable, Codable {
    let hold: Hold
    let since: Date

    func moved(by seconds: TimeInterval) -> DatedHold {
        DatedHold(hold: hold, since: since.addingTimeInterval(seconds))
    }
}

extension [DatedHold] {
    /// The holds of other keys that still last: the next refresh token is not sent for those keys either.
    func lasting(besides key: String?, at now: Date) -> [DatedHold] {
        filter { dated in
            let (hold, age) = (dated.hold, now.timeIntervalSince(dated.since))
            return !hold.isUntilDecided && !hold.key.isExactly(key)
                && !hold.isOver(after: age, takesType: { _ in false })
        }
    }
}

/// A refresh token that is not to be sent, for stores that keep no notes.
struct HeldToken: Hashable, Sendable {
    let refreshToken: String
    let holds: [DatedHold]

    /// Whether nobody would send the token any more, or the holds are over.
    func isPointless(for record: CredentialRecord?, _ unsaved: LoaderMemory.Unsaved?, at now: Date) -> Bool {
        let present = [record?.credential.refreshToken, unsaved?.credential.refreshToken]
        guard present.contains(where: { $0.isExactly(refreshToken) }) else { return true }
        return holds.allSatisfy { dated in
            dated.hold.isOver(after: now.timeIntervalSince(dated.since), takesType: { _ in false })
        }
    }
}
