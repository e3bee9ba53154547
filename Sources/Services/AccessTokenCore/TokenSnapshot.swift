public import AccessTokenFoundation
public import AccessTokenSynchronization

/// What the state machine last published: what callers are given without a hop, on any thread.
@usableFromInline
package struct TokenSnapshot: ~Copyable, Sendable {
    @usableFromInline
    package struct Published: Separable {
        /// The value and the instant that nearly every caller needs, read in place: a copy of all costs as much again.
        @usableFromInline package var token: AccessToken?
        @usableFromInline package var freshUntil = Date.distantPast

        @usableFromInline package var cached: CachedToken?
        var load: Load.ID?
        var sessionEpoch = 0
        /// Changes with the session, and where a look has found another user, or nobody any more.
        var userEpoch = 0
        var signOuts = 0

        /// For those who show the session; no caller of a token reads this.
        var outlook = SessionOutlook()
        var isSignedOut = false
        var changes: UInt32 = 0

        @usableFromInline package var separated: Published {
            var copy = self
            copy.token = token?.separated
            copy.cached = cached?.with(copy.token)
            return copy
        }
    }

    @usableFromInline package let published = ReadByMany(Published())

    /// Whether each caller that is given a token is an event, which only the state machine reports.
    @usableFromInline package let reportsHits: Bool

    /// What became of requests with the token.
    private let repeatedRequests = Locked(RepeatedRequests())

    /// Who is told of each change of the session.
    private let watches = Locked<[SessionWatch]>([])

    package init(reportsHits: Bool) {
        self.reportsHits = reportsHits
    }

    /// The token, if it is valid and nothing else has to be done about it.
    @inlinable
    package borrowing func freshToken(at now: Date) -> AccessToken? {
        guard !reportsHits else { return nil }
        return published.read { published in
            if now < published.freshUntil { return published.token }
            guard let cached = published.cached, cached.isFresh(at: now) else { return nil }
            return cached.token
        }
    }

    /// The token, if it is valid.
    @inlinable
    package borrowing func usableToken(at now: Date) -> AccessToken? {
        published.read { published in
            if now < published.freshUntil { return published.token }
            guard let cached = published.cached, cached.isUsable(at: now) else { return nil }
            return cached.token
        }
    }

    package borrowing func isCurrent(_ load: Load.ID) -> Bool {
        published.read { $0.load == load }
    }

    package var userEpoch: Int { published.read { $0.userEpoch } }

    /// A login that began before the last sign-out is void.
    package var signOuts: Int { published.read { $0.signOuts } }

    package borrowing func view(at now: Date) -> SessionView {
        published.read { published in
            let (status, until) = published.outlook.status(
                of: published.cached,
                isSignedOut: published.isSignedOut,
                at: now
            )
            return SessionView(
                status: status,
                subject: published.outlook.subject,
                sessionEpoch: published.sessionEpoch,
                until: until,
                changes: published.changes
            )
        }
    }

    package borrowing func add(_ watch: SessionWatch) {
        watches.withLock { $0.append(watch) }
    }

    /// The caller has a reference, so that nothing is released under the lock.
    package borrowing func remove(_ watch: SessionWatch) {
        watches.withLock { $0.removeAll { $0 === watch } }
    }

    package borrowing func withRepeatedRequests<Result: Sendable>(_ body: (inout RepeatedRequests) -> Result) -> Result
    {
        repeatedRequests.withLock { body(&$0) }
    }

    /// Publishes what the state machine has decided, and enqueues the answers, as one step.
    ///
    /// A waiter that is answered can read the new token. The handler of a caller that reads the new token is called
    /// after those of all waiters. `answer` only enqueues: it runs under the lock.
    package borrowing func publish(_ machine: inout AccessTokenStateMachine, _ answer: () -> Void) {
        // Many decisions change nothing.
        guard machine.takeChange() else { return answer() }
        let cached = machine.publishedToken
        let new = Published(
            token: cached?.token,
            freshUntil: cached?.freshUntil ?? .distantPast,
            cached: cached,
            load: machine.currentLoad,
            sessionEpoch: machine.sessionEpoch,
            userEpoch: machine.sessionEpoch + machine.userChanges,
            signOuts: machine.signOuts,
            outlook: machine.outlook,
            isSignedOut: machine.isSignedOut,
            changes: machine.changes
        )
        published.change(to: new, answer)
        for watch in watches.withLock({ $0 }) { watch.signal() }
    }
}
