import AccessTokenFoundation

/// A load that the loader is asked for, by the service that was told to start it.
package struct Load: Sendable {
    package let id: LoadID

    /// The token that is no good any more, or soon will be.
    package let replacing: AccessToken?

    /// The loads inside which it runs, itself the last.
    package let enclosing: [LoadID]

    /// Fires when a sign-out cancels the load.
    package let cancelled = Latch()
}

/// The only load whose answer may be cached, and may answer or fail anybody (clause S3).
struct CurrentLoad: Sendable {
    let load: Load
    let startedAt: Date

    /// Whether the loader has been asked; a load that is given up before that is never begun.
    var isBegun = false

    /// Values that were rejected since the load was started, and that the loader was not told of.
    var rejected: Set<String> = []

    /// A good answer of an older load of this session, kept in case that this one fails (clause T2).
    var late: CachedToken?
}

/// A load that the loader is still running, and whose answer counts no more, or only if nothing newer is there (T2).
struct FormerLoad: Sendable {
    /// Who waits for the end of the load.
    enum Reason: Sendable {
        /// A sign-in began another session, perhaps of the same user: the next load waits, or both would send the same
        /// refresh token (O9).
        case replaced
        /// A sign-out ended its session: the loader forgets the session after the load.
        case signedOut
        /// It was silent past its deadline: nobody waits for it.
        case overdue
    }

    let load: Load
    var reason: Reason

    /// Values that were rejected since the load was started, and that the loader was not told of.
    var rejected: Set<String> = []
}
