import AccessTokenCore
import Foundation

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
