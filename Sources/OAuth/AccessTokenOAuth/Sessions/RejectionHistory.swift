import AccessTokenSynchronization
import Foundation

/// Decides whether the renewal of a rejected token can help, by what came of the renewals before; pure, with no time of
/// its own.
///
/// A server that refuses every token would otherwise cost a renewal for each request. The history is that of one
/// session. Of each origin it has the tokens that were rejected one after the other, up to the request that shows that
/// a renewal helps.
struct RejectionHistory: Sendable {
    /// Renewals that changed nothing, after which there are none for a while.
    static let mostUseless = 2
    /// Seconds without a renewal.
    static let pause: TimeInterval = 60
    /// Tokens that are told apart; a late rejection of one of them is no further renewal.
    private static let mostTokens = 8
    /// Requests that are told apart.
    private static let mostPlaces = 8

    enum Verdict: Hashable, Sendable {
        case renew
        case answer
        /// From now on there are no renewals for a while.
        case pause
    }

    /// Where a request went: another path of the same server may take a token that this one refuses.
    struct Place: Hashable, Sendable {
        let origin: WebOrigin
        let methodAndPath: String
    }

    private struct Trail {
        var tokens: [String] = []
        var pauseBegan: Date?
        /// The token that the server accepted last, for some other request.
        var accepted: String?
        /// The requests that were rejected.
        var places: [String] = []
        /// Rejections that began the trail anew, since a stream was accepted.
        var excused = 0
    }

    private var trails: [WebOrigin: Trail] = [:]

    /// The server has rejected a token.
    mutating func rejected(_ token: String, at place: Place, _ now: Date) -> Verdict {
        var trail = trails[place.origin] ?? Trail()
        defer { trails[place.origin] = trail }
        let isAnother = !trail.tokens.contains(token)
        let isNewPlace = !trail.places.contains(place.methodAndPath)
        if isNewPlace { trail.places = trail.places.suffix(Self.mostPlaces - 1) + [place.methodAndPath] }
        let isGoodElsewhere = isAnother && trail.accepted == token && trail.pauseBegan == nil
        if isGoodElsewhere, isNewPlace, trail.excused < Self.mostUseless {
            // The token was good elsewhere until now, and nothing says that this request refuses every token.
            trail.excused += 1
            trail.tokens = []
        }
        if isAnother { trail.tokens = trail.tokens.suffix(Self.mostTokens - 1) + [token] }
        if let began = trail.pauseBegan {
            // A wall clock that was set back must not prolong it.
            if (0..<Self.pause).contains(now.timeIntervalSince(began)) { return .answer }
            // One renewal shows whether it helps by now; the next token that is rejected begins the pause anew.
            trail.pauseBegan = nil
            trail.tokens = trail.tokens.suffix(Self.mostUseless)
            return .renew
        }
        guard isAnother, trail.tokens.count > Self.mostUseless else { return .renew }
        trail.pauseBegan = now
        return .pause
    }

    /// The server has not rejected a token: if it has rejected another one at the same place, a renewal has helped, or,
    /// in a pause, the server has changed.
    ///
    /// A token that was rejected elsewhere shows nothing: that place may refuse each one.
    ///
    /// - Parameter isStream: whether the body is a stream. Such a request is not sent again after a renewal, and so only
    ///   the next stream, at whatever place, shows whether that helps.
    mutating func accepted(_ token: String, at place: Place, isStream: Bool = false) {
        guard let trail = trails[place.origin] else { return }
        let isPaused = trail.pauseBegan != nil
        if trail.places.contains(place.methodAndPath), isPaused || !trail.tokens.contains(token) {
            trails[place.origin] = nil
        } else {
            trails[place.origin]?.accepted = token
            if isStream { trails[place.origin]?.excused = 0 }
        }
    }
}
