import AccessTokenFoundation

/// What is known of a session beside its token: for those who show the session, and for no caller's answer.
package struct SessionOutlook: Equatable, Sendable {
    /// A token that a look has found in the store, and that the next load will find there.
    struct Stored: Equatable, Sendable {
        let token: AccessToken
        /// Until when it is valid.
        let until: Date
    }

    /// What a look has found.
    enum Look: Equatable, Sendable {
        case nothing
        /// A session, and the token that is stored of it.
        case session(AccessToken?)
    }

    /// Why only a login helps; `nil` as long as the next call may succeed.
    var need: LoginNeed?
    /// Whether anybody has said that there is a session.
    var isKnown = false
    /// While it is valid, and not the service's own.
    @Seldom var stored: Stored?
    /// Whose session is stored, by the last look that could tell.
    package var subject: String? {
        get { exactSubject?.string }
        set { exactSubject = newValue.map { ExactString($0) } }
    }
    @Seldom private var exactSubject: ExactString?
    /// Whether the service's token has come since, and was not what the look had found: it may be another user's.
    var isSubjectOld = false
    /// The last look, by which the next one tells that somebody has signed in; `nil` if that would be old news.
    @Seldom var lastLook: Look?

    init(isKnown: Bool = false) { self.isKnown = isKnown }

    /// A load or a sign-in has brought a token, which says more than earlier looks.
    mutating func tokenCame(_ token: AccessToken) {
        (need, stored, isKnown) = (nil, nil, true)
        if case .session(let last?) = lastLook, last.secret == token.secret {
            isSubjectOld = false
        } else {
            isSubjectOld = true
        }
        forgetEmptyLook()
    }

    /// A load knows more of the session than a look that found nothing.
    mutating func forgetEmptyLook() {
        if lastLook == .nothing { lastLook = nil }
    }

    /// Whether somebody else has stored a session, or has renewed it, since the last look.
    ///
    /// - Parameter token: what is stored now, unless it is the service's own token.
    func isNews(_ token: AccessToken?) -> Bool {
        switch lastLook {
        case nil: false
        case .nothing: true
        case .session(let last): token.map { $0.secret != last?.secret } ?? false
        }
    }

    /// The status of a session that has this token, or none; and until when, if nothing happens.
    func status(
        of token: CachedToken?,
        isSignedOut: Bool,
        at now: Date
    ) -> (status: SessionStatus, until: Date) {
        guard !isSignedOut else { return (.signedOut, .distantFuture) }
        switch need {
        case .nobody: return (.signedOut, .distantFuture)
        case .user: return (.needsLogin, .distantFuture)
        case nil: break
        }
        let ends = [token?.usableUntil, token?.grace?.until, stored?.until].compactMap(\.self)
        if token?.isUsable(at: now) == true || stored.map({ now < $0.until }) == true {
            return (.signedIn, ends.filter { now < $0 }.min() ?? .distantFuture)
        }
        return (isKnown ? .expired : .unknown, .distantFuture)
    }
}
