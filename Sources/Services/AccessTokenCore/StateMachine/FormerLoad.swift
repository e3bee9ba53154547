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

    /// What was rejected since the load was started, and its loader was not told of.
    var rejected = RejectedTokens()
}
