import AccessTokenFoundation

/// What is known of a session beside its token: for those who show the session, and for no caller's answer.
package struct SessionOutlook: Hashable, Sendable {
    /// Whether this service is signed out.
    var isSignedOut = false
    /// Why only a login helps; `nil` as long as the next call may succeed.
    var need: LoginNeed?
    /// Until when the token is valid that a look has found in the store, and that the next load will find there.
    var storedUntil: Date?
    /// That token.
    var stored: AccessToken?
    /// Whose session is stored, by the last look that could tell.
    package var subject: String?
    /// Whether anybody has said that there is a session.
    var isKnown = false

    /// A load or a sign-in has brought a token, which says more than earlier looks.
    mutating func tokenCame() {
        (need, stored, storedUntil, isKnown) = (nil, nil, nil, true)
    }

    /// The status of a session that has this token, or none; and until when, if nothing happens.
    func status(of token: CachedToken?, at now: Date) -> (status: SessionStatus, until: Date) {
        guard !isSignedOut else { return (.signedOut, .distantFuture) }
        switch need {
        case .nobody: return (.signedOut, .distantFuture)
        case .user: return (.needsLogin, .distantFuture)
        case nil: break
        }
        let ends = [token?.usableUntil, token?.grace?.until, storedUntil].compactMap(\.self)
        if token?.isUsable(at: now) == true || storedUntil.map({ now < $0 }) == true {
            return (.signedIn, ends.filter { now < $0 }.min() ?? .distantFuture)
        }
        return (isKnown ? .expired : .unknown, .distantFuture)
    }
}
