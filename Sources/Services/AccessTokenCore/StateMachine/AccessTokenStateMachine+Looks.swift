package import AccessTokenFoundation

extension AccessTokenStateMachine {
    // MARK: What is known of the session

    /// Somebody has looked at what is stored, and asked no server.
    ///
    /// | stored is | the service's token | the status |
    /// | --- | --- | --- |
    /// | nothing | is not handed out any more: another process has signed out | `signedOut` |
    /// | another user's session | is not handed out any more; the next call loads | that of the stored token |
    /// | a session that needs a login | stays | `needsLogin` |
    /// | a valid token that the service has not | stays | `signedIn`: the next load finds that token |
    /// | a session that was stored since the last look | stays | that of the service's token; no login is needed |
    /// | anything else | stays | as before |
    ///
    /// In the first two rows, what a load brings that runs already is not handed out either, unless it is the stored
    /// token, or a look finds nothing where nobody was known to be signed in. The present user is told from another one
    /// only where both looks say a subject. If a token has come between the looks, and yet another one was stored after
    /// the first look, the session counts as another user's: a user who was signed in between may have that token.
    ///
    /// - Parameter changes: those that there were when the look began.
    /// - Returns: `false` if the session has changed since: the look may be older than what is known, and is ignored.
    package mutating func looked(_ found: StoredSession?, since changes: UInt32, at now: Date) -> Bool {
        guard changes == self.changes else { return false }
        if case .signedOut = session { return true }
        guard let found else {
            // A load may have found that before.
            if outlook.lastLook != .nothing { userChanges += 1 }
            // Where nobody was known to be signed in, the load that is running may be the login.
            if session.current != nil || outlook.isKnown && outlook.need == nil { withdrawToken() }
            (outlook.stored, outlook.subject, outlook.lastLook) = (nil, nil, .nothing)
            outlook.isSubjectOld = false
            loginIsNeeded(.nobody, LoggedError(AccessTokenError.signedOut))
            return true
        }
        outlook.isKnown = true
        let own = session.current ?? session.tokenToReplace
        let stored = found.token.flatMap { $0.secret == own?.token.secret ? nil : $0 }
        let isNews = outlook.isNews(stored)
        outlook.lastLook = .session(found.token)
        if let subject = found.subject {
            let isOther = outlook.subject.map { ExactString($0) != ExactString(subject) } ?? false
            // The token that came between the looks may be of a user whom no look has found.
            let isUnsure = outlook.subject != nil && outlook.isSubjectOld && isNews && stored != nil
            if isOther || isUnsure {
                userChanges += 1
                // A load may have brought the new user's token before.
                if stored != nil || found.token == nil { withdrawToken() }
            }
            if isUnsure || stored == nil { outlook.isSubjectOld = false }
            outlook.subject = subject
        }
        outlook.stored = stored.flatMap { token in
            let cached = CachedToken(token, load: lastLoad, policy: policy, at: now)
            return cached.isUsable(at: now) ? SessionOutlook.Stored(token: token, until: cached.usableUntil) : nil
        }
        if found.needsLogin {
            loginIsNeeded(.user, LoggedError(type: "StoredSession", code: "needsLogin"))
        } else if outlook.stored != nil || isNews {
            // Somebody else has signed in.
            outlook.need = nil
        }
        return true
    }

    /// Another session is stored: the token of the present one is not handed out any more, and what a load brings that
    /// runs already is worth nothing, unless it is the stored token.
    ///
    /// Nothing is written where there is nothing to withdraw: what is written counts as a change.
    private mutating func withdrawToken() {
        if session.current != nil { session.retireToken() }
        noteInRunningLoads { $0.insertAll() }
    }

    /// Only a login helps; told once, until there is a token again.
    ///
    /// A session that the server has ended is gone at the next load: that is nothing new.
    mutating func loginIsNeeded(_ need: LoginNeed, _ error: LoggedError?) {
        if need == .user { outlook.forgetEmptyLook() }
        guard outlook.need == nil || (outlook.need == .nobody && need == .user) else { return }
        outlook.need = need
        report(.init(.loginNeeded, errorType: error?.type, errorCode: error?.code))
    }
}
